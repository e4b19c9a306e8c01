/**
 * docs/renumbering.md, followed literally: every command of the page against the real server, and what the page says they print. Sections run beside each
 * other: in one of them the Service `kubernetes` comes back after the ten seconds of its next try.
 */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, it } from "vitest";
import { WITHOUT_COLLECTOR } from "../../support/clients/kubectl";
import { kubectlCommand } from "../../support/clients/kubectl-command";
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

/** Starts the server as a line of the page says it. */
const start = (data: string, line: string): Promise<Server> => startServer(data, line.slice(START.length).split(" "));

function shell(commands: string, { kubeconfig }: Server): Promise<{ code: number | null; out: string; err: string }> {
  const path = `${join(folder, "bin")}:${String(process.env["PATH"])}`;
  const env = { ...WITHOUT_COLLECTOR, PATH: path, HOME: folder, KUBECONFIG: kubeconfig };
  return new Promise((resolve) => {
    const child = execFile("sh", ["-e"], { env, timeout: 120_000 }, (_, out, err) => resolve({ code: child.exitCode, out, err }));
    child.stdin?.end(commands);
  });
}

beforeAll(() => {
  mkdirSync(join(folder, "bin"));
  symlinkSync(kubectlCommand(), join(folder, "bin", "kubectl"));
});

afterAll(() => removeFolder(folder));

it.concurrent.for(sections(page).map((section) => [section.title, section] as const))(
  "%s: every command prints what the page shows",
  { timeout: TIMEOUT_MS },
  async ([title, { steps }], { expect }) => {
    const data = join(folder, title.replaceAll(" ", "-"));
    const [first = ""] = /npm start -- --var \S+/.exec(page) ?? [];
    let server = await start(data, first);
    try {
      for (const { commands, prints } of steps) {
        if (commands.startsWith(START)) {
          await server.stop();
          server = await start(data, commands);
          continue;
        }
        const { code, out, err } = await shell(commands, server);
        expect(code, `${commands}\nfailed:\n${out}${err}`).toBe(0);
        if (prints !== undefined) expect(out.trimEnd().endsWith(prints), `${commands}\nprinted:\n${out}`).toBe(true);
      }
    } finally {
      await server.kill();
    }
  },
);
