// Draws media/icon.png from scripts/icon.svg with a headless Chromium: node scripts/icon.mjs [chromium]
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const SIZE = 256;
const media = fileURLToPath(new URL("../media/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "icon-"));
try {
  const page = join(folder, "icon.html");
  writeFileSync(page, `<style>body{margin:0}svg{display:block}</style>${readFileSync(new URL("icon.svg", import.meta.url), "utf8")}`);
  const { status, stderr } = spawnSync(
    process.argv[2] ?? "chromium",
    [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--hide-scrollbars",
      "--default-background-color=00000000",
      `--user-data-dir=${folder}`,
      `--window-size=${SIZE},${SIZE}`,
      `--screenshot=${join(media, "icon.png")}`,
      pathToFileURL(page).href,
    ],
    { encoding: "utf8" },
  );
  if (status !== 0) {
    throw new Error(`Chromium did not draw: ${stderr}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
