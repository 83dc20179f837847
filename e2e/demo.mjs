// `cargo xtask demo`: VS Code with Sluice, for a person in a browser. With --headless, one conversation runs and is
// printed.
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import { Chat } from "./lib/chat.mjs";
import { setup as readSetup } from "./lib/setup.mjs";
import { openWindow, STATE, startServer } from "./lib/vscode.mjs";

const README = `# A mill

The sluice lets the water in at noon. The wheel turns until the evening.
`;
const GATE = `export function open(gate) {
    return { ...gate, level: Math.min(gate.level + 10, 100) };
}
`;

const setup = readSetup();
const shots = path.join(setup.shots, "demo");
fs.mkdirSync(shots, { recursive: true });
const server = await startServer({
  ...setup,
  folder: path.join(setup.work, "demo"),
  chatGroups: [{ name: "Sluice", vendor: "sluice" }],
  settings: {
    "chat.utilityModel": "sluice/sluice/demo",
    "chat.utilitySmallModel": "sluice/sluice/demo",
    "workbench.secondarySideBar.defaultVisibility": "visible",
  },
  env: { SLUICE_BASE_URL: setup.gateway, SLUICE_API_KEY: "demo" },
  files: { "README.md": README, "gate.js": GATE },
});

if (setup.headless) {
  const window = await openWindow(server, setup);
  const view = new Chat(window.page);
  await view.open();
  await view.pick("Sluice Demo");
  const questions = ["Hello! Who are you?", `Please read the file ${server.workspace}/README.md`, "What can you tell me about sources?"];
  for (const [at, question] of questions.entries()) {
    const answer = await view.ask(question);
    const picture = path.join(shots, `${at + 1}.png`);
    await window.page.screenshot({ path: picture });
    console.log(`\nYou: ${question}\n\n${answer.trim().replace(/^/gm, "  ")}\n\n  [${path.relative(".", picture)}]`);
  }
  await window.close();
  await server.stop();
  process.exit(0);
}

// The user's own browser has no state for VS Code yet: this page configures VS Code to show Chat and then redirects to
// it.
const start = `<!DOCTYPE html><title>Sluice</title><script type="module">
const opening = indexedDB.open('vscode-web-state-db-global', 1);
opening.onupgradeneeded = () => opening.result.createObjectStore('ItemTable');
opening.onsuccess = () => {
    const change = opening.result.transaction('ItemTable', 'readwrite');
    for (const [key, value] of Object.entries(${JSON.stringify(STATE)})) change.objectStore('ItemTable').put(value, key);
    change.oncomplete = () => { opening.result.close(); location.replace('/?folder=' + ${JSON.stringify(encodeURIComponent(server.workspace))}); };
};
</script>`;
const { port } = new URL(server.url);
const front = http.createServer((request, response) => {
  if (request.url === "/") return void response.setHeader("content-type", "text/html").end(start);
  const asked = http.request({ port, host: "127.0.0.1", path: request.url, method: request.method, headers: request.headers });
  asked.on("response", (reply) => reply.pipe(response.writeHead(reply.statusCode ?? 502, reply.headers)));
  asked.on("error", () => response.destroy());
  request.pipe(asked);
});
front.on("upgrade", (request, socket, head) => {
  const lines = [`${request.method} ${request.url} HTTP/1.1`];
  for (let at = 0; at < request.rawHeaders.length; at += 2) lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
  const upstream = net.connect(Number(port), "127.0.0.1", () => {
    upstream.write(`${lines.join("\r\n")}\r\n\r\n`);
    upstream.write(head);
    upstream.pipe(socket).pipe(upstream);
  });
  for (const end of [upstream, socket]) {
    end.on("error", () => {
      upstream.destroy();
      socket.destroy();
    });
  }
});
front.listen(0, "127.0.0.1", () => {
  const { port } = /** @type {net.AddressInfo} */ (front.address());
  console.log(`VS Code is at http://127.0.0.1:${port}/`);
});
