//! Captures for bug reports: the raw stream, and the request without its private contents; or both in one file, with
//! times.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;
use sluice_client::{Client, private_file};
use sluice_core::{BuiltRequest, ChatRequest, Failure, RequestRecord, build_request, redact_body, redact_response};

use crate::exchange_file::{Chunk, Header};

pub struct CaptureFile {
    body: File,
    /// The file that was named. Later requests of the same run have files of their own.
    first: PathBuf,
    requests: u32,
    /// The start of a line that is not complete yet.
    line: Vec<u8>,
    format: Format,
    started: Instant,
}

/// What a capture looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The raw stream, and the request in a file next to it.
    Stream,
    /// An [exchange](crate::exchange_file), with or without the texts of the request.
    Exchange { with_texts: bool },
}

impl CaptureFile {
    /// Creates the file for the stream. The request is written next to it. An existing file is never overwritten.
    pub fn start(path: &Path, format: Format) -> io::Result<Self> {
        let body = create(path)?;
        Ok(Self { body, first: path.to_owned(), requests: 0, line: Vec::new(), format, started: Instant::now() })
    }

    /// Writes the request. It doesn't contain the key, and every text is replaced by its length. The stream that follows
    /// goes into a file of its own, because a file with two of them can't be replayed: `FILE`, `FILE.2`, `FILE.3`, ….
    pub fn request(&mut self, chat: &ChatRequest, client: &Client) -> io::Result<()> {
        self.requests += 1;
        if self.requests > 1 {
            self.body = create(&self.stream_path())?;
        }
        self.started = Instant::now();
        let BuiltRequest { request, .. } = build_request(chat, client.endpoint());
        let mut body: Value = serde_json::from_str(&request.body)?;
        let with_texts = self.format == Format::Exchange { with_texts: true };
        if !with_texts {
            redact_body(&mut body);
        }
        let shown = serde_json::json!({"method": request.method, "url": request.url, "body": body});
        if self.format != Format::Stream {
            let header = serde_json::to_string(&Header::new(&client.endpoint().origin, shown, chat, with_texts))?;
            return writeln!(self.body, "{}", client.secrets().mask_values(&header));
        }
        let text = serde_json::to_string_pretty(&shown)? + "\n";
        private_file::create_named(&self.beside("request"))?.write_all(client.secrets().mask(&text).as_bytes())
    }

    /// Writes the stream up to the last complete line. Secrets are masked in complete lines only, because one may start
    /// in one chunk and end in the next.
    pub fn bytes(&mut self, bytes: &[u8], client: &Client) -> io::Result<()> {
        let whole = bytes.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
        let (whole, rest) = bytes.split_at(whole);
        self.line.extend_from_slice(whole);
        if !whole.is_empty() {
            self.finish(client)?;
        }
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// Writes a last line without a line ending.
    pub fn finish(&mut self, client: &Client) -> io::Result<()> {
        // Bytes that aren't UTF-8 may be the reason for the capture.
        for chunk in std::mem::take(&mut self.line).utf8_chunks() {
            let is_redacted = self.format == Format::Exchange { with_texts: false };
            let text = if is_redacted { redact_response(chunk.valid()) } else { chunk.valid().into() };
            let valid = client.secrets().mask(&text);
            if self.format == Format::Stream {
                self.body.write_all(valid.as_bytes())?;
                self.body.write_all(chunk.invalid())?;
                continue;
            }
            let after = self.started.elapsed();
            let invalid = (!chunk.invalid().is_empty()).then(|| Chunk::of_bytes(after, chunk.invalid()));
            for chunk in [Chunk::of_text(after, valid.into())].into_iter().chain(invalid) {
                writeln!(self.body, "{}", serde_json::to_string(&chunk)?)?;
            }
        }
        Ok(())
    }

    /// Writes why an attempt failed, with the status of the response, next to its body. An exchange file needs
    /// none of this: its record says the same.
    pub fn failure(&mut self, failure: &Failure, client: &Client) -> io::Result<()> {
        if self.format != Format::Stream {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(failure)? + "\n";
        private_file::create_named(&self.beside("failure"))?.write_all(client.secrets().mask(&text).as_bytes())
    }

    /// Returns the name of a file that belongs to the stream.
    fn beside(&self, what: &str) -> PathBuf {
        let mut path = self.stream_path().into_os_string();
        path.push(format!(".{what}.json"));
        path.into()
    }

    fn stream_path(&self) -> PathBuf {
        let mut path = self.first.as_os_str().to_owned();
        if self.requests > 1 {
            path.push(format!(".{}", self.requests));
        }
        path.into()
    }

    /// Writes the record of the request, if there is a place for it.
    pub fn record(&mut self, record: &RequestRecord) -> io::Result<()> {
        if self.format == Format::Stream {
            return Ok(());
        }
        writeln!(self.body, "{}", serde_json::json!({ "record": record }))
    }
}

fn create(path: &Path) -> io::Result<File> {
    if path.is_file() {
        let message = format!("{} exists already; name another file", path.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    private_file::create_named(path)
}
