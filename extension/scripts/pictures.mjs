// Draws the walkthrough's pictures, media/*.svg: VS Code in the colours of the reader's theme. node scripts/pictures.mjs
import { writeFileSync } from "node:fs";

// Styles are attributes, because VS Code shows a walkthrough's picture on a page that ignores style sheets in it.
const BORDER = `stroke="var(--vscode-widget-border, #3c3c3c)"`;
const SHAPES = {
  paper: `fill="var(--vscode-editor-background, #1f1f1f)" ${BORDER}`,
  side: `fill="var(--vscode-sideBar-background, #181818)" ${BORDER}`,
  box: `fill="var(--vscode-input-background, #313131)" ${BORDER}`,
  bar: `fill="var(--vscode-statusBar-background, #181818)" ${BORDER}`,
  chosen: `fill="var(--vscode-list-activeSelectionBackground, #04395e)"`,
  button: `fill="var(--vscode-button-background, #0078d4)"`,
};
const PLAIN = "var(--vscode-foreground, #cccccc)";
const TEXTS = {
  plain: `fill="${PLAIN}"`,
  small: `fill="${PLAIN}" font-size="13"`,
  faint: `fill="var(--vscode-descriptionForeground, #9d9d9d)" font-size="13"`,
  on: `fill="var(--vscode-list-activeSelectionForeground, #ffffff)"`,
  onSmall: `fill="var(--vscode-list-activeSelectionForeground, #ffffff)" font-size="13"`,
  label: `fill="var(--vscode-button-foreground, #ffffff)" font-size="13"`,
  good: `fill="var(--vscode-charts-green, #89d185)"`,
  bad: `fill="var(--vscode-charts-red, #f14c4c)"`,
};

const box = (x, y, width, height, kind, radius = 6) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" ${SHAPES[kind]}/>`;
const text = (x, y, words, kind = "plain") => `<text x="${x}" y="${y}" ${TEXTS[kind]}>${words}</text>`;
const row = (y, mark, kind, name, detail) => [text(88, y, mark, kind), text(116, y, name), text(210, y, detail, "faint")];
const model = (y, name, detail, kind = "plain") => [text(116, y, name, kind), text(116, y + 21, detail, "faint")];

draw("demo", 400, [
  box(40, 20, 560, 360, "side", 10),
  text(64, 52, "CHAT", "faint"),
  box(330, 70, 246, 38, "chosen", 8),
  text(346, 94, "What can you do?", "on"),
  text(64, 146, "Sluice Demo", "faint"),
  text(64, 174, "Hello! I am a demo: I live inside the extension"),
  text(64, 196, "and need neither a key nor a network."),
  box(64, 216, 250, 34, "box"),
  `<circle cx="84" cy="233" r="6" ${TEXTS.good}/>`,
  text(100, 238, "Ran a tool: list directory", "faint"),
  text(64, 276, "Your folder has 12 files. Ask me about one."),
  box(56, 300, 528, 64, "box", 8),
  text(74, 326, "Ask anything", "faint"),
  box(74, 336, 196, 22, "chosen", 4),
  text(84, 352, "Sluice Demo (demo)", "onSmall"),
]);
draw("key", 400, [
  box(40, 20, 560, 360, "paper", 10),
  text(64, 54, "Language Models"),
  box(64, 74, 512, 34, "box"),
  text(80, 96, "Search models", "faint"),
  box(440, 78, 130, 26, "button", 4),
  text(466, 96, "Add Models", "label"),
  box(300, 116, 276, 84, "side"),
  text(318, 142, "Another provider", "faint"),
  box(306, 156, 264, 32, "chosen", 4),
  text(318, 177, "Sluice", "on"),
  box(64, 216, 512, 64, "side", 8),
  text(82, 240, "API key", "faint"),
  box(82, 248, 476, 24, "box", 4),
  text(92, 266, "• • • • • • • • • • • •"),
  box(64, 292, 512, 64, "side", 8),
  text(82, 316, "Base URL", "faint"),
  box(82, 324, 476, 24, "box", 4),
  text(92, 341, "https://ai-gateway.vercel.sh/v1", "small"),
]);
draw("models", 400, [
  box(80, 20, 480, 360, "side", 10),
  box(100, 40, 440, 32, "box"),
  text(114, 61, "It is offered first in a new chat", "faint"),
  box(96, 84, 448, 58, "chosen", 5),
  ...model(109, "✓ Claude Sonnet 4.5", "200k tokens · $3 / $15 per M tokens", "on"),
  ...model(175, "GPT-5.2", "400k tokens · $1.25 / $10 per M tokens"),
  ...model(241, "Gemini 3 Pro", "1M tokens · $2 / $12 per M tokens"),
  ...model(307, "DeepSeek V3.2", "128k tokens · $0.27 / $0.40 per M tokens"),
]);
draw("tokens", 300, [
  box(40, 20, 560, 260, "paper", 10),
  box(330, 50, 254, 168, "side", 8),
  ...["Context", "From the cache", "Thinking", "Cost", "Speed"].map((label, at) => text(348, 80 + at * 28, label, "faint")),
  ...["52.0k of 128k", "48.1k", "1.2k", "$0.0421", "84 tokens/s"].map((value, at) => text(470, 80 + at * 28, value, "small")),
  box(40, 244, 560, 36, "bar", 8),
  text(64, 267, "main", "faint"),
  box(432, 250, 152, 24, "chosen", 4),
  text(446, 267, "52.0k/128k · 41 %", "onSmall"),
]);
draw("test", 340, [
  box(60, 20, 520, 300, "paper", 10),
  text(88, 56, "Sluice: Test the Connection"),
  ...row(96, "✓", "good", "Address", "https://ai-gateway.vercel.sh/v1"),
  ...row(136, "✓", "good", "Network", "https://ai-gateway.vercel.sh answers."),
  ...row(176, "✓", "good", "Models", "214 models can chat."),
  ...row(216, "✗", "bad", "Key", "The key is not valid. Enter it again."),
  box(88, 258, 130, 30, "button", 4),
  text(108, 278, "Show Details", "label"),
  box(232, 258, 130, 30, "box", 4),
  text(252, 278, "Copy Details", "small"),
]);

function draw(name, height, shapes) {
  const font = `font-family="var(--vscode-font-family, system-ui, sans-serif)" font-size="15"`;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 ${height}" ${font}>`,
    ...shapes.map((shape) => `  ${shape}`),
    "</svg>",
    "",
  ];
  writeFileSync(new URL(`../media/${name}.svg`, import.meta.url), lines.join("\n"));
}
