//! Dialogs about keys and servers.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::dialogs::{GATEWAY, plain, with_server, works};

#[test]
fn a_key_is_checked_before_it_is_kept() {
    let mut world = with_server("good", works());
    world.check(json!("addKey"), &["two words", "bad", "good", "Start Chatting"], expect![[r#"
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
          invalid: The key contains a line break, a space or another character that is not allowed in a key, so nothing was sent. Copy the key again and enter it on one line.
          invalid: Wrong key.
        keys [{"name":"ai-gateway.vercel.sh","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"good"}]
        set chat.defaultModel = "acme/one"
        show Information: Sluice: The connection "ai-gateway.vercel.sh" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
        run workbench.action.chat.open [{"modelSelector":{"id":"acme/one","vendor":"sluice"},"query":""}]
    "#]]);
    // Another key gets another name.
    world.check(json!("addKey"), &["Add a Key", "good", "-"], expect![[r#"
        pick Add or Change a Key (): $add Add a Key | $server Use a Local Server | $key ai-gateway.vercel.sh (https://ai-gateway.vercel.sh/v1)
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        keys [{"name":"ai-gateway.vercel.sh","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"good"},{"name":"ai-gateway.vercel.sh 2","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"good"}]
        show Information: Sluice: The connection "ai-gateway.vercel.sh 2" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
    "#]]);
}

#[test]
fn a_key_that_cannot_be_checked_is_kept_if_the_user_insists() {
    let mut world = with_server("good", json!({"models": 0, "problems": [], "note": [plain("No connection.")]}));
    world.check(
        json!("addKey"),
        &["good", "good"],
        expect![[r#"
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
          invalid: No connection. Press Enter again to keep it anyway.
        keys [{"name":"ai-gateway.vercel.sh","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"good"}]
    "#]],
    );
}

#[test]
fn a_key_is_not_kept_if_the_user_closes_the_box_while_it_is_checked() {
    let mut world = with_server("good", works());
    world.is_impatient = true;
    world.check(
        json!("addKey"),
        &["good"],
        expect![[r#"
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
    "#]],
    );
}

#[test]
fn a_key_for_another_address() {
    let mut world = with_server("good", json!({"models": 0, "problems": [], "elsewhere": "https://a.example/v1"}));
    let answers = [
        "Open the page with your keys",
        "Use another address than https://ai-gateway.vercel.sh",
        "nonsense",
        "https://a.example",
        "good",
    ];
    world.check(
        json!("addKey"),
        &answers,
        expect![[r#"
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        open https://vercel.com/d?to=%2F%5Bteam%5D%2F%7E%2Fai-gateway%2Fapi-keys
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        input Add a Key: The base URL of an Open Responses endpoint, up to and including /v1.
          invalid: The base URL does not start with https://. It should look like https://ai-gateway.vercel.sh/v1
        input Add a Key: Paste a key for a.example and press Enter. It is checked before it is kept.
        keys [{"name":"a.example","baseUrl":"https://a.example/v1","key":"good"}]
    "#]],
    );
}

#[test]
fn keys_are_renamed_replaced_and_removed() {
    let mut world = with_server("new", works());
    world.keys = json!([
        {"name": "Work", "baseUrl": GATEWAY, "key": "old"},
        {"name": "Home", "baseUrl": "http://localhost:1/v1"},
    ])
    .to_string();
    world.check(json!("addKey"), &["Work", "Rename", "Home", "Office"], expect![[r#"
        pick Add or Change a Key (): $add Add a Key | $server Use a Local Server | $key Work (https://ai-gateway.vercel.sh/v1) | $server Home (http://localhost:1/v1)
        pick Work (https://ai-gateway.vercel.sh/v1): $key Change the Key | $edit Rename | $trash Remove
        input Rename: The name is shown next to models that several servers have.
          invalid: Enter a name that no other key has.
        keys [{"name":"Office","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"old"},{"name":"Home","baseUrl":"http://localhost:1/v1"}]
    "#]]);
    world.check(json!("addKey"), &["Office", "Change the Key", "new", "-"], expect![[r#"
        pick Add or Change a Key (): $add Add a Key | $server Use a Local Server | $key Office (https://ai-gateway.vercel.sh/v1) | $server Home (http://localhost:1/v1)
        pick Office (https://ai-gateway.vercel.sh/v1): $key Change the Key | $edit Rename | $trash Remove
        input Change the Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        keys [{"name":"Office","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"new"},{"name":"Home","baseUrl":"http://localhost:1/v1"}]
        set chat.defaultModel = "acme/one"
        show Information: Sluice: The connection "Office" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
    "#]]);
    world.check(json!("addKey"), &["Office", "Remove", "Remove"], expect![[r#"
        pick Add or Change a Key (): $add Add a Key | $server Use a Local Server | $key Office (https://ai-gateway.vercel.sh/v1) | $server Home (http://localhost:1/v1)
        pick Office (https://ai-gateway.vercel.sh/v1): $key Change the Key | $edit Rename | $trash Remove
        show Question: The key Office will be deleted from this machine. [Remove]
        forget Office
        keys [{"name":"Home","baseUrl":"http://localhost:1/v1"}]
    "#]]);
}

#[test]
fn keys_of_a_newer_version_are_left_alone() {
    let mut world = with_server("good", works());
    world.keys = json!({"version": 2}).to_string();
    world.check(json!("addKey"), &["good"], expect![[r#"
        input Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        show Error: Sluice: A newer version of Sluice keeps the keys, and this one leaves them alone. Update it to change them.
    "#]]);
}

#[test]
fn a_server_without_a_key() {
    let mut world = with_server("", works());
    world.check(json!("addServer"), &["localhost:11434", "-"], expect![[r#"
        input Use a Local Server: Type the address of a server, such as localhost:11434 for Ollama, and press Enter.
        keys [{"name":"localhost:11434","baseUrl":"http://localhost:11434"}]
        set chat.defaultModel = "acme/one"
        show Information: Sluice: The connection "localhost:11434" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
    "#]]);
    // One that isn't on this machine is used after a question, and one that needs a key gets one.
    let mut world = with_server("good", works());
    let answers = ["https://a.example/v1", "-", "https://a.example/v1", "Use This Address", "good", "-"];
    world.check(json!("addServer"), &answers, expect![[r#"
        input Use a Local Server: Type the address of a server, such as localhost:11434 for Ollama, and press Enter.
        show Question: Chats will be sent to https://a.example without a key. [Use This Address]
          invalid: Nothing was sent. Use https, or another address.
        show Question: Chats will be sent to https://a.example without a key. [Use This Address]
        input Add a Key: Paste a key for a.example and press Enter. It is checked before it is kept.
        keys [{"name":"a.example","baseUrl":"https://a.example/v1","key":"good"}]
        set chat.defaultModel = "acme/one"
        show Information: Sluice: The connection "a.example" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
    "#]]);
}

#[test]
fn a_refused_key_is_changed_where_it_is() {
    let refused = |connection: Value| json!({"keyRefused": {"connection": connection, "reason": "Wrong key."}});
    let connection = |kept: Value, is_sign_in: bool| {
        json!({
            "label": "Work", "baseUrl": GATEWAY, "problem": null, "mustConfirm": false,
            "kept": kept, "isSignIn": is_sign_in,
        })
    };
    let kept = json!({"name": "Work", "baseUrl": GATEWAY, "key": "old", "replaces": "fingerprint"});
    let mut world = with_server("new", works());
    world.check(refused(connection(kept, false)), &["Change the Key", "new", "-"], expect![[r#"
        show Error: Sluice: Work: Wrong key. [Change the Key]
        input Change the Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.
        keys [{"name":"Work","baseUrl":"https://ai-gateway.vercel.sh/v1","key":"new","replaces":"fingerprint"}]
        set chat.defaultModel = "acme/one"
        show Information: Sluice: The connection "Work" works; 2 of its models can chat. New chats start with One. [Start Chatting] [Choose Another Model]
    "#]]);
    world.check(
        refused(connection(Value::Null, true)),
        &["Change the Key"],
        expect![[r#"
        show Error: Sluice: Work: Wrong key. [Change the Key]
        run sluice.signInWithVercelCli []
    "#]],
    );
    world.check(refused(connection(Value::Null, false)), &["Change the Key"], expect![[r#"
        show Error: Sluice: Work: Wrong key. [Change the Key]
        show Information: Sluice: this key is in VS Code's environment, in one of the variables SLUICE_API_KEY, AI_GATEWAY_API_KEY, VERCEL_OIDC_TOKEN. Change it there, then restart VS Code.
    "#]]);
}
