//! Runs the real `sluice models` against the embedded gateway: the table, the cached list, and what is printed if there
//! is no list.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::expect;
use serde_json::Value;
use sluice_simulator::server::{Config, Simulator};

struct Place {
    directory: PathBuf,
    url: String,
}

impl Place {
    fn new(name: &str, url: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("models").join(name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        Self { directory, url: url.to_owned() }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_sluice"))
            .arg("models")
            .args(arguments)
            .env("SLUICE_BASE_URL", &self.url)
            .env("XDG_CACHE_HOME", &self.directory)
            .env_remove("SLUICE_API_KEY")
            .env_remove("AI_GATEWAY_API_KEY")
            .env_remove("VERCEL_OIDC_TOKEN")
            .output()
            .unwrap()
    }

    /// Returns the files of the cache.
    fn kept(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.directory.join("sluice"));
        files.map(|files| files.map(|file| file.unwrap().path()).collect()).unwrap_or_default()
    }
}

fn text(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn models_are_printed_as_a_table() {
    let simulator = Simulator::start(Config::recording()).unwrap();
    let place = Place::new("table", &simulator.url());
    let (code, table, errors) = text(&place.run(&["--all", "e"]));
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(!table.contains('\u{1b}'), "colours in a pipe");
    expect![[r#"
        ID                          CONTEXT  OUTPUT  $/M IN / OUT   CACHED  CAN
        sluice/demo                    200k     32k  $0.50 / $2+     $0.05  tools, images, files, thinking
        sluice/small                    36k      4k  $0.10 / $0.40   $0.01  tools, images, files, thinking
        sluice/echo                    128k   16.4k  $0.10 / $0.40   $0.01
        sluice/long                    128k   16.4k  $0.10 / $0.40   $0.01
        sluice/tools                   128k   16.4k  $0.10 / $0.40   $0.01  tools
        sluice/parallel-tools          128k   16.4k  $0.10 / $0.40   $0.01  tools
        sluice/reasoning               128k   16.4k  $0.10 / $0.40   $0.01  thinking
        sluice/encrypted-reasoning     128k   16.4k  $0.10 / $0.40   $0.01  thinking
        sluice/openai-like             128k   16.4k  $0.10 / $0.40   $0.01  tools, thinking
        sluice/openai-unverified       128k   16.4k  $0.10 / $0.40   $0.01  tools, thinking
        sluice/anthropic-like          128k   16.4k  $0.10 / $0.40   $0.01  tools, thinking
        sluice/deepseek-like           128k   16.4k  $0.10 / $0.40   $0.01  tools, thinking
        sluice/kimi-like               128k   16.4k  $0.10 / $0.40   $0.01  tools, thinking
        sluice/vllm-like               128k   16.4k  $0.10 / $0.40   $0.01  tools, thinking
        sluice/refusal                 128k   16.4k  $0.10 / $0.40   $0.01
        sluice/citations               128k   16.4k  $0.10 / $0.40   $0.01  web search
        sluice/image                   128k   16.4k  $0.10 / $0.40   $0.01
        sluice/empty                   128k   16.4k  $0.10 / $0.40   $0.01
        sluice/thinking-only           128k   16.4k  $0.10 / $0.40   $0.01  thinking
        sluice/incomplete              128k   16.4k  $0.10 / $0.40   $0.01
        sluice/content-filter          128k   16.4k  $0.10 / $0.40   $0.01
        sluice/failed                  128k   16.4k  $0.10 / $0.40   $0.01
        sluice/error                   128k   16.4k  $0.10 / $0.40   $0.01
        sluice/burst                   128k   16.4k  $0.10 / $0.40   $0.01
        sluice/embedding embedding                   $0.02 / $0
        sluice/painter image
    "#]]
    .assert_eq(&table);
    let (_, chatting, _) = text(&place.run(&[]));
    assert!(chatting.contains("sluice/demo") && !chatting.contains("sluice/embedding"));
}

#[test]
fn models_are_printed_as_json() {
    let simulator = Simulator::start(Config::recording()).unwrap();
    let place = Place::new("json", &simulator.url());
    let models = |arguments: &[&str]| -> Vec<Value> { serde_json::from_slice(&place.run(arguments).stdout).unwrap() };
    let demo = &models(&["--json", "SLUICE/de*"])[0];
    assert_eq!((&demo["id"], &demo["maxInputTokens"]), (&"sluice/demo".into(), &168_000.into()));
    assert_eq!(demo["pricing"], "$0.50 / $2 per M tokens, cached $0.05, above 100k: $1 / $3");
    assert_eq!(demo["effort"]["values"][0], "none");
    let kinds = |models: Vec<Value>| models.iter().map(|m| m["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert!(kinds(models(&["--json"])).iter().all(|kind| kind == "chat"));
    assert_eq!(kinds(models(&["--json", "--all", "paint"])), ["image"]);
    assert_eq!(text(&place.run(&["--json", "nothing-like-it"])).1, "[]\n");
}

#[test]
fn a_pattern_without_a_match_is_reported() {
    let simulator = Simulator::start(Config::recording()).unwrap();
    let place = Place::new("nothing", &simulator.url());
    let errors = |arguments: &[&str]| {
        let (code, out, errors) = text(&place.run(arguments));
        assert_eq!((code, out.as_str()), (Some(1), ""));
        errors
    };
    expect![[r#"
        sluice: no model matches "slice/demo"; did you mean sluice/demo?
    "#]]
    .assert_eq(&errors(&["slice/demo"]));
    expect![[r#"
        sluice: no model matches "zebra"; `sluice models` lists all
    "#]]
    .assert_eq(&errors(&["zebra"]));
    expect![[r#"
        sluice: sluice/painter does not chat (image); --all lists it too
    "#]]
    .assert_eq(&errors(&["painter"]));
}

#[test]
fn the_list_is_cached() {
    let simulator = Simulator::start(Config::recording()).unwrap();
    let mut place = Place::new("kept", &simulator.url());
    let (_, first, _) = text(&place.run(&[]));
    assert_eq!(text(&place.run(&[])).1, first);
    assert_eq!(simulator.requests().len(), 1, "fresh for five minutes");
    text(&place.run(&["--refresh"]));
    let requests = simulator.requests();
    assert!(requests[0].header("if-none-match").is_none() && requests[1].header("if-none-match").is_some());
    assert_eq!(place.kept().len(), 1, "one file, nothing left beside it");

    // Another endpoint has another list, even if its file has the same name.
    let file = place.kept().remove(0);
    let snapshot = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, snapshot.replace("127.0.0.1", "127.0.0.2")).unwrap();
    assert_eq!(text(&place.run(&[])).1, first);
    assert_eq!(simulator.requests().len(), 3);

    // A damaged list is reported once, fetched again, and then intact.
    std::fs::write(&file, &snapshot[..snapshot.len() / 2]).unwrap();
    let (code, table, errors) = text(&place.run(&[]));
    assert_eq!((code, table), (Some(0), first.clone()));
    expect![[r#"
        sluice: The kept list of models is damaged; it will be fetched again
    "#]]
    .assert_eq(&errors);
    assert_eq!(text(&place.run(&[])).2, "");

    // The list is two hours old, and there is no server.
    let kept = std::fs::read_to_string(&file).unwrap();
    let mut aged: Value = serde_json::from_str(&kept).unwrap();
    let fetched = aged["fetchedAt"].as_u64().unwrap();
    aged["fetchedAt"] = (fetched - 7_230).into();
    std::fs::write(&file, aged.to_string()).unwrap();
    drop(simulator);
    let (code, table, errors) = text(&place.run(&[]));
    assert_eq!((code, table), (Some(0), first));
    let address = place.url.trim_end_matches("/v1").to_owned();
    expect![[r#"
        sluice: No connection to http://the.gateway. Check the network, the proxy settings and the base URL. The known models stay available.
        sluice: this list is 2 hours old
    "#]].assert_eq(&errors.replace(&address, "http://the.gateway"));

    // There is no cached list and no server.
    place.directory.push("empty");
    let (code, table, errors) = text(&place.run(&[]));
    assert_eq!((code, table.as_str()), (Some(1), ""));
    expect![[r#"
        sluice: No connection to http://the.gateway. Check the network, the proxy settings and the base URL.
    "#]]
    .assert_eq(&errors.replace(&address, "http://the.gateway"));
}

/// The shell asks for completions through variables, as `sluice completions bash` tells it to.
#[test]
fn shells_complete_ids_of_known_models() {
    let simulator = Simulator::start(Config::default()).unwrap();
    let place = Place::new("completions", &simulator.url());
    place.run(&[]);
    let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["--", "sluice", "chat", "-m", "sluice/op"])
        .env("XDG_CACHE_HOME", &place.directory)
        .env("COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "3")
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "true")
        .env("_CLAP_IFS", "\n")
        .output()
        .unwrap();
    assert_eq!(text(&output).1, "sluice/openai-like\nsluice/openai-unverified");
}
