/** docs/renumbering.md, followed literally: every command of the page against the real server, and what the page says they print. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { findKubectl } from "../../../scripts/kubectl";
import { removeFolder, startServer, temporaryFolder, type Server } from "../../support/server/server";

const PAGE = join(import.meta.dirname, "..", "..", "..", "docs", "renumbering.md");
const START = "npm start -- ";
const TIMEOUT_MS = 240_000;

interface Step {
  commands: string;
  /** what they print; undefined = the page does not say */
  prints: string | undefined;
}

interface Section {
  title: string;
  steps: Step[];
}

/** The sections of the page that have commands. */
function sections(page: string): Section[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((text) => {
      const steps: Step[] = [];
      for (const [, language, body = ""] of text.matchAll(/^```(sh|text)\n([\s\S]*?)\n```$/gm)) {
        const last = steps.at(-1);
        if (language === "sh") steps.push({ commands: body, prints: undefined });
        else if (last) last.prints = body;
      }
      return { title: text.slice(0, text.indexOf("\n")), steps };
    })
    .filter(({ steps }) => steps.length > 0);
}

const page = readFileSync(PAGE, "utf8");
const folder = temporaryFolder();
let server: Server | undefined;

/** Starts the server as a line of the page says it. */
async function start(data: string, line: string): Promise<void> {
  await server?.stop();
  server = await startServer(data, line.slice(START.length).split(" "));
}

function shell(commands: string): { code: number | null; out: string; err: string } {
  const env = { PATH: `${join(folder, "bin")}:${String(process.env["PATH"])}`, HOME: folder, KUBECONFIG: server?.kubeconfig };
  const result = spawnSync("sh", ["-e"], { encoding: "utf8", input: commands, env, timeout: 120_000 });
  return { code: result.status, out: result.stdout, err: result.stderr };
}

beforeAll(() => {
  const command = findKubectl();
  if (!command) throw new Error("there is no kubectl 1.36 or newer: put one on the PATH, name it in $KUBECTL, or run .ci/run once");
  const path = spawnSync("sh", ["-c", `command -v '${command}'`], { encoding: "utf8" }).stdout.trim();
  mkdirSync(join(folder, "bin"));
  symlinkSync(path, join(folder, "bin", "kubectl"));
});

afterEach(async () => {
  await server?.kill();
  server = undefined;
});

afterAll(() => removeFolder(folder));

it.each(sections(page).map((section) => [section.title, section] as const))(
  "%s: every command prints what the page shows",
  { timeout: TIMEOUT_MS },
  async (title, { steps }) => {
    const data = join(folder, title.replaceAll(" ", "-"));
    const [first = ""] = /npm start -- --var \S+/.exec(page) ?? [];
    await start(data, first);
    for (const { commands, prints } of steps) {
      if (commands.startsWith(START)) {
        await start(data, commands);
        continue;
      }
      const { code, out, err } = shell(commands);
      expect(code, `${commands}\nfailed:\n${out}${err}`).toBe(0);
      if (prints !== undefined) expect(out.trimEnd().endsWith(prints), `${commands}\nprinted:\n${out}`).toBe(true);
    }
  },
);
