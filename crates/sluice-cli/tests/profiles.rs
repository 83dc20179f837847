//! Saved endpoints: each key goes to its own endpoint only, and the file belongs to the user alone.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sluice_simulator::server::{Config, Simulator};
use sluice_simulator::{Faults, Options};

/// A user with an empty home.
struct User {
    home: PathBuf,
}

impl User {
    fn new(name: &str) -> Self {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profiles").join(name);
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).unwrap();
        Self { home }
    }

    /// Runs the program with a line on standard input. Returns the exit code, standard output and standard error.
    fn run(&self, arguments: &[&str], input: &str, settings: &[(&str, &str)]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
        for unset in ["AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN", "SLUICE_API_KEY", "SLUICE_BASE_URL", "SLUICE_MODEL"] {
            command.env_remove(unset);
        }
        command.args(arguments).env("SLUICE_HOME", &self.home).env("XDG_CACHE_HOME", &self.home);
        command.envs(settings.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that needs no input may have ended.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    fn file(&self) -> PathBuf {
        self.home.join("profiles.json")
    }
}

fn keys(simulator: &Simulator) -> Vec<String> {
    let requests = simulator.requests();
    let mut keys: Vec<String> =
        requests.iter().map(|request| request.header("authorization").unwrap_or("no key").to_owned()).collect();
    keys.dedup();
    keys
}

fn locked(key: &str) -> Simulator {
    let options = Options { key: Some(key.to_owned()), ..Options::default() };
    Simulator::start(Config { options, ..Config::recording() }).unwrap()
}

#[test]
fn each_profile_has_its_own_endpoint_key_model_and_headers() {
    let user = User::new("own");
    let (work, home) = (locked("work-key"), locked("home-key"));
    let login = ["-p", "work", "login", &work.url(), "-m", "sluice/echo", "--header", "X-Team: blue"];
    let (code, _, said) = user.run(&login, "work-key\n", &[]);
    assert_eq!((code, said.contains("Saved as \"work\"")), (Some(0), true), "{said}");
    let (code, _, said) = user.run(&["login", &home.url()], "home-key", &[]);
    assert_eq!((code, said.contains("`sluice chat …` uses it")), (Some(0), true), "{said}");

    let (code, answer, said) = user.run(&["-p", "work", "chat", "Good morning"], "", &[]);
    assert_eq!((code, answer.contains("Good morning")), (Some(0), true), "{said}");
    let (code, _, said) = user.run(&["models"], "", &[]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!((keys(&work), keys(&home)), (vec!["Bearer work-key".to_owned()], vec!["Bearer home-key".to_owned()]));
    let with_team =
        |simulator: &Simulator| simulator.requests().iter().all(|request| request.header("x-team") == Some("blue"));
    assert_eq!((with_team(&work), with_team(&home)), (true, false));

    // The environment takes precedence over the default profile, and a named profile over the environment.
    let other = Simulator::start(Config::recording()).unwrap();
    let settings = [("SLUICE_BASE_URL", other.url()), ("SLUICE_API_KEY", "other-key".to_owned())];
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    user.run(&["models", "--refresh"], "", &settings);
    assert_eq!(keys(&other), ["Bearer other-key"]);
    user.run(&["-p", "work", "models", "--refresh"], "", &settings);
    assert_eq!((keys(&other), keys(&work)), (vec!["Bearer other-key".into()], vec!["Bearer work-key".to_owned()]));

    let (_, list, _) = user.run(&["profiles"], "", &[]);
    assert!(list.contains("work: ") && list.contains("sluice/echo") && !list.contains("-key"), "{list}");
    assert_eq!(user.run(&["-p", "work", "logout"], "", &[]).0, Some(0));
    let (code, _, said) = user.run(&["-p", "work", "models"], "", &[]);
    assert_eq!((code, said.contains("there is no profile \"work\"")), (Some(2), true), "{said}");
    assert!(!fs::read_to_string(user.file()).unwrap().contains("work-key"));
}

#[test]
fn every_command_sends_the_headers_of_its_arguments() {
    let user = User::new("headers");
    let server = Simulator::start(Config::recording()).unwrap();
    let url = server.url();
    let settings = [("SLUICE_BASE_URL", url.as_str()), ("SLUICE_MODEL", "sluice/echo")];
    let headers = ["--header", "X-Team: blue", "--header", "x-org:acme"];
    let capture = user.home.join("stream.sse").display().to_string();
    for command in [
        vec!["chat", "Hello"],
        vec!["capture", &capture, "Hello"],
        vec!["models", "--refresh"],
        vec!["doctor"],
        vec!["doctor", &url],
        vec!["login", &url],
    ] {
        let before = server.requests().len();
        let (code, _, said) = user.run(&[&command[..], &headers].concat(), "", &settings);
        let requests = server.requests();
        assert!(code == Some(0) && requests.len() > before, "{command:?}: {said}");
        for request in &requests[before..] {
            assert_eq!(
                (request.header("x-team"), request.header("x-org")),
                (Some("blue"), Some("acme")),
                "{command:?}"
            );
        }
    }
    // A header of the arguments takes the place of the profile's, for this run.
    user.run(&["-p", "work", "login", &url, "--header", "x-team: red", "-m", "sluice/echo"], "", &[]);
    for (header, sent) in [(vec!["--header", "x-team: green"], "green"), (vec![], "red")] {
        user.run(&[vec!["-p", "work", "chat", "Hello"], header].concat(), "", &[]);
        assert_eq!(server.requests().last().unwrap().header("x-team"), Some(sent));
    }
}

#[test]
fn a_header_that_cannot_be_sent_is_an_error() {
    let user = User::new("wrong-headers");
    for (wrong, why) in [
        ("canary-0123456789", "--header 'NAME: VALUE'"),
        (": canary-0123456789", "its name has characters"),
        ("x team: canary-0123456789", "its name has characters"),
        ("authorization: Bearer canary-0123456789", "Sluice sets it"),
        ("x-team: ", "its value is empty"),
        ("x-team: canary-0123456789\u{fc}", "printable ASCII"),
        ("x-team: canary-0123456789\nx-injected: 1", "printable ASCII"),
    ] {
        let (code, _, said) = user.run(&["models", "--header", wrong], "", &[]);
        assert_eq!((code, said.contains(why), said.contains("canary")), (Some(2), true, false), "{wrong:?}: {said}");
    }
}

#[test]
fn the_value_of_a_header_is_masked_like_a_key() {
    let user = User::new("masked-headers");
    let server = Simulator::start(Config::recording()).unwrap();
    let url = server.url();
    let settings = [("SLUICE_BASE_URL", url.as_str()), ("SLUICE_MODEL", "sluice/echo")];
    let headers = ["x-api-key: canary-0123456789", "x-title: My Application", "http-referer: https://app.example/"];
    let headers: Vec<&str> = headers.iter().flat_map(|header| ["--header", header]).collect();
    let capture = user.home.join("stream.sse");
    let ask = ["capture", capture.to_str().unwrap(), "canary-0123456789 of My Application at https://app.example/"];
    let (code, answer, said) = user.run(&[&ask[..], &headers].concat(), "", &settings);
    assert_eq!(code, Some(0), "{said}");
    assert!(answer.contains("[hidden] of My Application at https://app.example/"), "{answer}");
    let mut files = vec![capture];
    files.extend(fs::read_dir(user.home.join("conversations")).unwrap().map(|file| file.unwrap().path()));
    assert!(files.len() > 1);
    for text in files.iter().map(|file| fs::read_to_string(file).unwrap()).chain([answer, said]) {
        assert!(!text.contains("canary-0123456789"), "{text}");
    }
}

#[test]
fn a_header_stays_with_its_origin() {
    let user = User::new("moved-headers");
    let first = Simulator::start(Config::recording()).unwrap();
    let second = Simulator::start(Config::recording()).unwrap();
    let team = |server: &Simulator| server.requests().iter().any(|request| request.header("x-team").is_some());
    assert_eq!(user.run(&["login", &first.url(), "--header", "x-team: blue"], "", &[]).0, Some(0));
    // Somebody changes the address in the file, or the user saves another endpoint under the same name.
    let moved = fs::read_to_string(user.file()).unwrap().replacen(&first.url(), &second.url(), 1);
    fs::write(user.file(), moved).unwrap();
    let (_, _, said) = user.run(&["models", "--refresh"], "", &[]);
    assert!(said.contains("the headers of this profile are not sent to"), "{said}");
    assert_eq!(user.run(&["login", &second.url()], "", &[]).0, Some(0));
    user.run(&["doctor", &second.url(), "-m", "sluice/echo"], "", &[]);
    assert_eq!((team(&first), team(&second)), (true, false));
}

#[test]
fn a_key_that_the_server_refuses_is_not_saved() {
    let user = User::new("refused");
    let server = locked("right-key");
    let (code, _, said) = user.run(&["login", &server.url()], "wrong-key-canary", &[]);
    assert_eq!(code, Some(2));
    assert!(said.contains("Nothing was saved") && !said.contains("canary"), "{said}");
    assert!(!user.file().exists());
}

#[test]
fn a_key_stays_with_its_origin() {
    let user = User::new("moved");
    let (first, second) = (locked("first-key"), Simulator::start(Config::recording()).unwrap());
    assert_eq!(user.run(&["login", &first.url()], "first-key", &[]).0, Some(0));
    // `sluice doctor` gets an address, and the key of another profile must not go there.
    user.run(&["doctor", &second.url(), "-m", "sluice/echo"], "", &[]);
    assert_eq!(keys(&second), ["no key"]);
    // Somebody changes the address in the file.
    let moved = fs::read_to_string(user.file()).unwrap().replace(&first.url(), &second.url());
    fs::write(user.file(), moved).unwrap();
    let (_, _, said) = user.run(&["models", "--refresh"], "", &[]);
    assert!(said.contains("is not sent to"), "{said}");
    assert_eq!(keys(&second), ["no key"]);
}

#[test]
fn an_endpoint_without_a_key_needs_none() {
    let user = User::new("keyless");
    let server = Simulator::start(Config::recording()).unwrap();
    assert_eq!(user.run(&["login", &server.url(), "-m", "sluice/echo"], "", &[]).0, Some(0));
    assert_eq!(user.run(&["chat", "Hi"], "", &[]).0, Some(0));
    assert_eq!(keys(&server), ["no key"]);
}

#[test]
fn nothing_is_sent_unencrypted_without_consent() {
    let user = User::new("unencrypted");
    let settings = [("SLUICE_BASE_URL", "http://192.168.1.5:11434/v1")];
    let (code, _, said) = user.run(&["models"], "", &settings);
    assert_eq!((code, said.contains("Nothing is encrypted")), (Some(2), true), "{said}");
    assert!(said.contains("sluice login --profile NAME http://192.168.1.5:11434/v1"), "{said}");
    let (code, _, said) = user.run(&["login", "http://192.168.1.5:11434/v1"], "", &[]);
    assert_eq!((code, said.contains("--unencrypted")), (Some(2), true), "{said}");
    assert!(!user.file().exists());
    let (code, _, said) = user.run(&["login", "http://example.com/v1", "--unencrypted"], "", &[]);
    assert_eq!((code, said.contains("must be https")), (Some(2), true), "{said}");
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let user = User::new("private");
    let server = locked("a-key");
    assert_eq!(user.run(&["login", &server.url()], "a-key", &[]).0, Some(0));
    assert_eq!(fs::metadata(user.file()).unwrap().permissions().mode() & 0o777, 0o600);
}

fn imitating(server: &str) -> Simulator {
    let options = Options { faults: Faults::parse(&format!("as={server}")).unwrap(), ..Options::default() };
    Simulator::start(Config { options, ..Config::recording() }).unwrap()
}

/// People leave out the scheme and `/v1`. What is saved has both, so that no later command has to look for them.
#[test]
fn the_address_that_works_is_saved() {
    let (user, ollama) = (User::new("address"), imitating("ollama"));
    let typed = ollama.url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let (code, _, said) = user.run(&["-p", "ollama", "login", &typed], "\n", &[]);
    assert_eq!((code, said.contains(&format!("The base URL is {}.", ollama.url()))), (Some(0), true), "{said}");
    let (_, profiles, _) = user.run(&["profiles"], "", &[]);
    assert_eq!(profiles.trim(), format!("ollama: {} without a key", ollama.url()));
    let before = ollama.requests().len();
    let (code, _, said) = user.run(&["-p", "ollama", "chat", "-m", "sluice/echo", "Hello"], "", &[]);
    assert_eq!((code, said.contains("base URL")), (Some(0), false), "{said}");
    assert_eq!(ollama.requests()[before..].iter().filter(|request| request.path == "/responses").count(), 0);
}

#[test]
fn a_server_without_a_list_is_saved_if_a_model_of_it_answers() {
    let (user, server) = (User::new("no-list"), imitating("huggingface"));
    let login = |model: &[&str]| user.run(&[&["-p", "hf", "login", &server.url()], model].concat(), "\n", &[]);
    let (code, _, said) = login(&[]);
    assert_eq!((code, said.contains("name a model with -m")), (Some(2), true), "{said}");
    let (code, _, said) = login(&["-m", "acme/unknown"]);
    assert_eq!((code, said.contains("Nothing was saved.")), (Some(2), true), "{said}");
    assert!(!user.file().exists());
    let (code, _, said) = login(&["-m", "sluice/echo"]);
    assert_eq!((code, said.contains("sluice/echo answers.")), (Some(0), true), "{said}");
    let (code, answer, said) = user.run(&["-p", "hf", "chat", "Hello"], "", &[]);
    assert_eq!((code, answer.trim()), (Some(0), "Hello"), "{said}");
}
