/** docs/tutorial.md, run as it stands there: its server, its files, its commands in their order, and what it says that they show. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkNodePortsUnique, checkState } from "../../support/checks/checkers";
import { WITHOUT_COLLECTOR } from "../../support/clients/kubectl";
import { kubectlCommand } from "../../support/clients/kubectl-command";
import { observe } from "../../support/server/observe";
import { removeFolder, temporaryFolder } from "../../support/server/server";
import { serverForTests } from "../../support/server/server-for-tests";
import { shows, stepsOf } from "./console-page";

const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "tutorial.md"), "utf8");
const folder = temporaryFolder();
const work = join(folder, "work");
let environment: NodeJS.ProcessEnv = {};
const [, args = ""] = /^npm start -- (.+)$/m.exec(page) ?? [];
const server = serverForTests(args.split(" "));

beforeAll(() => {
  for (const name of ["bin", "home", "work"]) mkdirSync(join(folder, name));
  symlinkSync(kubectlCommand(), join(folder, "bin", "kubectl"));
  const path = `${join(folder, "bin")}${delimiter}${process.env["PATH"] ?? ""}`;
  environment = { ...WITHOUT_COLLECTOR, PATH: path, HOME: join(folder, "home"), TMPDIR: folder, KUBECONFIG: server.kubeconfig };
});
afterAll(() => removeFolder(folder));

/** What the terminal shows; ends with the exit code when the page does not show the error that goes with it. */
function typed(command: string, output: readonly string[]): string {
  const { status, stdout } = spawnSync("sh", ["-c", `exec 2>&1\n${command}`], {
    cwd: work,
    env: environment,
    encoding: "utf8",
    input: "",
    timeout: 60_000,
  });
  const toldOf = output.some((line) => /^error|is invalid: /i.test(line));
  return status === 0 || toldOf ? stdout : `${stdout}exit code ${String(status)}\n`;
}

describe("docs/tutorial.md", () => {
  it("every command: prints what the page shows", () => {
    const steps = stepsOf(page);
    for (const step of steps) {
      if (step.kind === "file") {
        writeFileSync(join(work, step.name), step.content);
        continue;
      }
      const { line, command, output } = step;
      const shown = typed(command, output);
      if (shows(output, shown)) continue;
      expect({ line, command, shown: shown.trimEnd().split("\n") }).toEqual({ line, command, shown: output });
    }
    expect(steps.length).toBeGreaterThan(50);
  }, 240_000);

  it("the cluster afterwards: keeps every invariant", async () => {
    const observed = await observe(server.url);
    expect([...checkState(observed), ...checkNodePortsUnique(observed)]).toEqual([]);
    expect(observed.services.length).toBeGreaterThan(250);
  });
});

describe("what a page promises about the output of a command", () => {
  it.each<[string[], string, boolean]>([
    [[], "", true],
    [[], "x\n", false],
    [["a b"], "a    b  \n", true],
    [["a.b"], "axb\n", false],
    [["10.0.0.… <none>"], "10.0.0.17   <none>\n", true],
    [["10.0.0.…"], "10.0.1.17\n", false],
    [["a", "…"], "a\nb\nc\n", true],
    [["…", "c"], "a\nb\nc\n", true],
    [["a"], "a\nb\n", false],
    [["a", "b"], "a\n", false],
  ])("%j of %j: %s", (output, text, holds) => {
    expect(shows(output, text)).toBe(holds);
  });
});
