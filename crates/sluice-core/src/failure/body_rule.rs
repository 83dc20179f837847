//! How a response is read that isn't an answer, such as a list of models: as a whole and within limits.

use serde::Serialize;

use super::Transport;

/// How much of a response is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BodyRule {
    /// The maximum number of bytes, after decompression.
    pub max_bytes: u32,
    /// Whether the beginning of the body is enough if the rest is too long or doesn't arrive. Otherwise, such a response
    /// counts as missing.
    pub may_be_partial: bool,
}

impl BodyRule {
    /// Decides how to read a response with this status. The error says why it isn't read.
    pub fn for_status(status: u16) -> Result<Self, Transport> {
        match status {
            304 => Ok(Self { max_bytes: 0, may_be_partial: true }),
            // A browser reports a redirect that it must not follow as status 0.
            0 | 300..400 => Err(Transport::Redirect),
            // The beginning of an error explains it.
            400.. => Ok(Self { max_bytes: 64 << 10, may_be_partial: true }),
            _ => Ok(Self { max_bytes: 8 << 20, may_be_partial: false }),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::BodyRule;

    #[test]
    fn small_responses_are_read_within_limits() {
        let mut lines = String::new();
        for status in [0, 200, 204, 301, 304, 307, 399, 400, 401, 503, 600] {
            let line = match BodyRule::for_status(status) {
                Ok(BodyRule { max_bytes, may_be_partial }) => format!("{max_bytes} bytes, partial: {may_be_partial}"),
                Err(transport) => format!("{transport:?}"),
            };
            lines.push_str(&format!("{status}: {line}\n"));
        }
        expect![[r#"
            0: Redirect
            200: 8388608 bytes, partial: false
            204: 8388608 bytes, partial: false
            301: Redirect
            304: 0 bytes, partial: true
            307: Redirect
            399: Redirect
            400: 65536 bytes, partial: true
            401: 65536 bytes, partial: true
            503: 65536 bytes, partial: true
            600: 65536 bytes, partial: true
        "#]]
        .assert_eq(&lines);
    }
}
