// Many requests at once, and their effect on the extension host.
const assert = require("node:assert/strict");
const { monitorEventLoopDelay } = require("node:perf_hooks");
const { setFlagsFromString } = require("node:v8");
const { runInNewContext } = require("node:vm");
const { model, parts, said } = require("../ask");
const figures = require("../figures");

const COUNT = 2000;

module.exports = [
  [
    "twenty requests at once, each with its own answer",
    async () => {
      // Earlier faults had events of several megabytes. Collecting that garbage must not be measured.
      setFlagsFromString("--expose-gc");
      runInNewContext("gc")();
      figures.memory("before 20 streams");
      const delay = monitorEventLoopDelay({ resolution: 1 });
      // Measures the delay that the host and the machine have anyway.
      delay.enable();
      await new Promise((resolve) => setTimeout(resolve, 3000));
      delay.disable();
      figures.note("event loop at rest: longest delay in ms", delay.max / 1e6);
      delay.reset();
      const burst = await model("sluice/burst");
      delay.enable();
      const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => parts(burst, `count to ${COUNT + at}`)));
      delay.disable();
      answers.forEach((answer, at) => {
        const text = Array.from({ length: COUNT + at }, (_, number) => ` ${number}`).join("");
        assert.deepEqual(said(answer), [{ text }]);
      });
      figures.note("event loop with 20 streams: longest delay in ms", delay.max / 1e6);
      figures.note("event loop with 20 streams: 99th percentile in ms", delay.percentile(99) / 1e6);
      figures.memory("after 20 streams");
    },
  ],
];
