//! Runs the WebAssembly modules in an interpreter that counts instructions. A count is the same on every machine,
//! however busy it is, so a test can compare it with a limit.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use wasmi::{
    Config, CustomFuelCosts, Engine, Instance, Linker, Memory, Module, Store, TypedFunc, WasmParams, WasmResults,
};

use crate::hostile::Input;

/// The largest chunk that a network stack delivers at once.
const CHUNK: usize = 64 << 10;
/// From `sluice-bridge`: the kind of row with the answer to a question.
const ANSWER: u32 = 1;
/// From `sluice-wasm`: the event that the body has ended.
const BODY_ENDED: u32 = 0;

/// The cost of reading some input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// All instructions, weighted by their cost.
    pub fuel: u64,
    /// The same for the most expensive call.
    pub longest_call: u64,
    /// The growth of linear memory in bytes.
    pub memory: usize,
}

pub struct Machine {
    engine: Engine,
    core: Module,
    ai_sdk: Module,
    requests: Module,
}

impl Machine {
    /// Loads the modules from the folder where `cargo xtask wasm` writes them.
    pub fn new(modules: &Path) -> Result<Self, String> {
        let mut config = Config::default();
        config.consume_fuel(true);
        // Functions are compiled when they are first called, which must not count.
        let cost =
            CustomFuelCosts { bytes_copied_per_fuel: 64, fuel_per_bytes_translated: 0, fuel_per_bytes_validated: 0 };
        config.fuel_cost(cost);
        let engine = Engine::new(&config);
        let module = |name: &str| {
            let file = modules.join(name);
            let bytes = fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            Module::new(&engine, &bytes).map_err(|error| format!("{}: {error}", file.display()))
        };
        let [core, ai_sdk, requests] =
            ["sluice_wasm.wasm", "sluice_ai_sdk_wasm.wasm", "sluice_requests_wasm.wasm"].map(module);
        Ok(Self { core: core?, ai_sdk: ai_sdk?, requests: requests?, engine })
    }

    /// Reads the input as a shell would. Fails if it takes more than `fuel`.
    pub fn read(&self, input: Input, body: &[u8], fuel: u64) -> Result<Cost, String> {
        let text = || String::from_utf8_lossy(body);
        match input {
            Input::OpenResponses | Input::AiSdk => self.stream(input, body, fuel),
            Input::WholeAnswer => self.whole(200, &json!([["content-type", "application/json"]]), body, fuel),
            Input::ErrorBody => {
                let decided = self.whole(500, &json!([]), body, fuel)?;
                let learn = json!({"learn": {"model": "acme/m", "refused": [], "overflow": text()}});
                Ok(decided.and(self.models(&[(learn, Value::Null)], fuel)?))
            }
            Input::Masked => {
                let secrets = ["canary-0123456789abcdef", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "%41%42%43%44%45"];
                self.ask(&json!({"mask": {"secrets": secrets, "value": text()}}), fuel).map(|(_, cost)| cost)
            }
            Input::RetryAfter => self.whole(500, &json!([["retry-after", text()]]), &[], fuel),
            Input::ModelList => self.models(&[(json!("refresh"), ok(&text())), (json!("list"), ok(&text()))], fuel),
            Input::ModelEndpoints => {
                let list = (json!("refresh"), ok(r#"{"data":[{"id":"acme/m"}]}"#));
                let endpoints = (json!({"enrich": {"model": "acme/m"}}), ok(&text()));
                self.models(&[list, endpoints, (json!("list"), Value::Null)], fuel)
            }
        }
    }

    /// Feeds a body that is known to be a stream to an exchange.
    fn stream(&self, input: Input, body: &[u8], fuel: u64) -> Result<Cost, String> {
        let module = if input == Input::AiSdk { &self.ai_sdk } else { &self.core };
        let mut run = Run::new(self, module, fuel)?;
        let open = run.function::<(u32, u32, f64), ()>("exchange_open")?;
        run.call(&open, (0, 1, 0.0))?;
        run.body(body, CHUNK)?;
        Ok(run.cost())
    }

    /// Feeds a response that isn't a stream to an exchange.
    fn whole(&self, status: u16, headers: &Value, body: &[u8], fuel: u64) -> Result<Cost, String> {
        let mut run = Run::new(self, &self.core, fuel)?;
        let open = run.function::<(u32, u32, f64), ()>("exchange_open")?;
        let head = run.function::<(u32, f64), ()>("exchange_head")?;
        run.call(&open, (0, 0, 0.0))?;
        let length =
            run.write(json!({"status": status, "headers": headers, "now": 1_000_000}).to_string().as_bytes())?;
        run.call(&head, (length, 0.0))?;
        run.body(body, CHUNK)?;
        Ok(run.cost())
    }

    /// Works on the list of models of a server. Each piece of work comes with what the server answers.
    fn models(&self, works: &[(Value, Value)], fuel: u64) -> Result<Cost, String> {
        let mut run = Run::new(self, &self.requests, fuel)?;
        let work = run.function::<(u32, u32, u32), ()>("work")?;
        let mut step = |input: &Value, number: u32| -> Result<(Value, u32), String> {
            let length = run.write(input.to_string().as_bytes())?;
            run.call(&work, (length, number, 0))?;
            run.answer()
        };
        for (work, received) in works {
            let models = json!({
                "connection": "", "label": "", "baseUrl": "https://gateway.example/v1", "isDemo": false, "isTrial": false,
                "settings": {}, "extraHeaders": {}, "work": work
            });
            let task = json!({"task": {"models": models}, "nowMs": 1_000_000, "random": vec![0; 16]});
            let (mut next, number) = step(&task, 0)?;
            while next["type"] != "done" {
                let result = match next["type"].as_str() {
                    Some("read") => json!("missing"),
                    Some("get") => json!({"received": [received]}),
                    _ => json!({"done": true}),
                };
                next = step(&result, number)?.0;
            }
        }
        Ok(run.cost())
    }

    /// Asks the requests module one question.
    fn ask(&self, question: &Value, fuel: u64) -> Result<(Value, Cost), String> {
        let mut run = Run::new(self, &self.requests, fuel)?;
        let ask = run.function::<u32, ()>("ask")?;
        let length = run.write(question.to_string().as_bytes())?;
        run.call(&ask, length)?;
        Ok((run.answer()?.0, run.cost()))
    }
}

fn ok(body: &str) -> Value {
    json!({"status": 200, "headers": [], "body": body})
}

impl Cost {
    fn and(self, other: Self) -> Self {
        Self {
            fuel: self.fuel + other.fuel,
            longest_call: self.longest_call.max(other.longest_call),
            memory: self.memory.max(other.memory),
        }
    }
}

/// One instance of a module, used for one input.
struct Run {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
    memory_before: usize,
    fuel: u64,
    longest_call: u64,
}

impl Run {
    fn new(machine: &Machine, module: &Module, fuel: u64) -> Result<Self, String> {
        let mut store = Store::new(&machine.engine, ());
        store.set_fuel(fuel).map_err(|error| error.to_string())?;
        let instance = Linker::new(&machine.engine).instantiate_and_start(&mut store, module);
        let instance = instance.map_err(|error| error.to_string())?;
        let memory = instance.get_memory(&store, "memory").ok_or("the module exports no memory")?;
        let memory_before = memory.data_size(&store);
        Ok(Self { store, instance, memory, memory_before, fuel, longest_call: 0 })
    }

    fn function<P: WasmParams, R: WasmResults>(&self, name: &str) -> Result<TypedFunc<P, R>, String> {
        self.instance.get_typed_func(&self.store, name).map_err(|error| format!("{name}: {error}"))
    }

    fn call<P: WasmParams, R: WasmResults>(&mut self, function: &TypedFunc<P, R>, with: P) -> Result<R, String> {
        let before = self.left();
        let result = function.call(&mut self.store, with).map_err(|error| error.to_string())?;
        self.longest_call = self.longest_call.max(before - self.left());
        Ok(result)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<u32, String> {
        let length = u32::try_from(bytes.len()).map_err(|error| error.to_string())?;
        let window = self.function::<u32, u32>("input_window")?;
        let address = self.call(&window, length)? as usize;
        self.memory.write(&mut self.store, address, bytes).map_err(|error| error.to_string())?;
        Ok(length)
    }

    /// Feeds a body to the exchange, and its end.
    fn body(&mut self, body: &[u8], chunk: usize) -> Result<(), String> {
        let bytes = self.function::<(u32, f64), ()>("exchange_bytes")?;
        let event = self.function::<(u32, f64), ()>("exchange_event")?;
        for piece in body.chunks(chunk) {
            let length = self.write(piece)?;
            self.call(&bytes, (length, 0.0))?;
        }
        self.call(&event, (BODY_ENDED, 0.0))
    }

    /// Returns the answer to the last call, and the first of its extra numbers.
    fn answer(&mut self) -> Result<(Value, u32), String> {
        let header = self.function::<(), u32>("header")?;
        let header = self.call(&header, ())? as usize;
        let memory = self.memory.data(&self.store);
        let word =
            |at: usize| memory.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_le_bytes);
        // An answer may have a second row, whose content isn't text.
        let [table, arena] = [4, 8].map(|field| word(header + field) as usize);
        let answer = memory.get(arena..arena + word(table + 4) as usize).unwrap_or_default();
        if word(table) != ANSWER {
            return Err(String::from_utf8_lossy(answer).into_owned());
        }
        let answer = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
        Ok((answer, word(header + 16)))
    }

    fn left(&self) -> u64 {
        self.store.get_fuel().unwrap_or_default()
    }

    fn cost(&self) -> Cost {
        Cost {
            fuel: self.fuel - self.left(),
            longest_call: self.longest_call,
            memory: self.memory.data_size(&self.store) - self.memory_before,
        }
    }
}
