/** The command `servicenet`: its subcommands, its own refusals, and what shells complete. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import packageJson from "../../../../package.json" with { type: "json" };
import { SUBCOMMANDS } from "../../../../scripts/servicenet/subcommands";
import { type Ended, runProgram } from "../../../support/server/program";
import { removeFolder, temporaryFolder } from "../../../support/server/server";

const servicenet = (...args: string[]): Promise<Ended> => runProgram("servicenet", args);
const NAMES = SUBCOMMANDS.map(({ name }) => name);

describe("the command itself", () => {
  it.each([[["--help"]], [[]], [["help"]]])("%j: the help, with every command on a line", async (args) => {
    const { code, out, err } = await servicenet(...args);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/^Usage: servicenet COMMAND/);
    for (const { name, summary } of SUBCOMMANDS) expect(out).toMatch(new RegExp(`^  ${name} .*${summary}$`, "m"));
  });

  it("--version: that of package.json", async () => {
    expect(await servicenet("--version")).toEqual({ code: 0, out: `${packageJson.version}\n`, err: "" });
  });

  it.each([
    [["serv"], "servicenet: unknown command 'serv' (Did you mean serve?)"],
    [["nothing-like-it"], "servicenet: unknown command 'nothing-like-it' (servicenet --help shows the commands)"],
    [["help", "chek"], "servicenet: unknown command 'chek' (Did you mean check?)"],
    [["--verbose"], "servicenet: unknown option '--verbose' (servicenet --help shows the commands)"],
    [
      ["completion", "tcsh"],
      "servicenet: command-argument value 'tcsh' is invalid for argument 'SHELL'. Allowed choices are bash, zsh, fish. (servicenet --help shows the commands)",
    ],
    [["completion"], "servicenet: missing required argument 'SHELL' (servicenet --help shows the commands)"],
  ])("%j: one line, exit code 2", async (args, line) => {
    expect(await servicenet(...args)).toEqual({ code: 2, out: "", err: `${line}\n` });
  });
});

describe("subcommands", () => {
  it.each(NAMES.filter((name) => name !== "bench"))("%s: help and refusals name the call as it was", async (name) => {
    const [asked, named, wrong] = await Promise.all([
      servicenet(name, "--help"),
      servicenet("help", name),
      servicenet(name, "--no-such-option"),
    ]);
    expect([asked.code, asked.err]).toEqual([0, ""]);
    expect(asked.out).toMatch(new RegExp(`^Usage: servicenet ${name} `));
    expect(asked.out).not.toMatch(/npm (run|start)/);
    expect(named).toEqual(asked);
    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(wrong.err).toMatch(
      new RegExp(`^[a-z]+: Unknown option '--no-such-option' \\(servicenet ${name} --help shows the options\\)\n$`),
    );
  });

  it("bench: the program of its npm script, with its exit code", async () => {
    const asked = await servicenet("bench", "--help");
    expect([asked.code, asked.err]).toEqual([0, ""]);
    expect(asked.out).toContain("--against URL");
    expect(await servicenet("bench", "--only", "nothing")).toMatchObject({ code: 2, out: "" });
  });

  it("arguments behind the name: reach the program as they stand", async () => {
    const { code, err } = await servicenet("import", "--", "--version");
    expect(code).toBe(2);
    expect(err).toMatch(/^import: --version/);
    expect(await servicenet("token", "list", "--server", "nowhere")).toMatchObject({
      code: 2,
      err: "token: --server nowhere: must be a URL\n",
    });
  });
});

describe("completion", () => {
  const folder = temporaryFolder();
  const file = (shell: string): string => join(folder, shell);
  beforeAll(async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, out } = await servicenet("completion", shell);
      expect(code).toBe(0);
      writeFileSync(file(shell), out);
    }
  });
  afterAll(() => removeFolder(folder));

  /** What the shells complete at the end of a line; "files" = names of files. */
  const completed: Readonly<Record<string, (words: readonly string[]) => string[]>> = {
    bash: (words) => {
      const set = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}) COMP_CWORD=${String(words.length - 1)}`;
      return lines("bash", ["-c", `source ${file("bash")}; ${set}; _servicenet; printf '%s\\n' "\${COMPREPLY[@]:-files}"`]);
    },
    zsh: (words) => {
      // The functions and builtins of a line editor, as far as they are called.
      const editor = `compdef() { : }; _files() { print files }
        compadd() { if [[ $1 == -a ]]; then print -rl -- \${(P)2}; else shift; print -rl -- $@; fi }
        _describe() { print -rl -- \${\${(P)2}%%:*} }`;
      const set = `words=(${words.map((word) => `'${word}'`).join(" ")}) CURRENT=${String(words.length)}`;
      const all = lines("zsh", ["-f", "-c", `${editor}; source ${file("zsh")}; ${set}; _servicenet`]);
      return all.filter((one) => one === "files" || one.startsWith(words.at(-1) ?? ""));
    },
    fish: (words) => {
      const all = lines("fish", ["--no-config", "-c", `cd ${folder}; source ${file("fish")}; complete -C '${words.join(" ")}'`]);
      const found = all.map((line) => line.split("\t")[0] ?? "").filter((one) => one !== "--help" || words.at(-1) !== "");
      return found.includes("fish") ? ["files"] : found;
    },
  };

  describe.each(Object.entries(completed))("%s", (_shell, at) => {
    it("the first word: commands that begin so, and the options of servicenet", () => {
      expect(at(["servicenet", "ch"])).toEqual(["check"]);
      expect(
        at(["servicenet", ""])
          .filter((word) => !word.startsWith("--"))
          .sort(),
      ).toEqual([...NAMES, "completion", "help"].sort());
      expect(at(["servicenet", "--v"])).toEqual(["--version"]);
    });

    it("an option: those of the command that begin so", () => {
      expect(at(["servicenet", "serve", "--in"])).toEqual(["--insecure-http"]);
      expect([...at(["servicenet", "agent", "--node", "n", "--leave"])].sort()).toEqual(["--leave", "--leave-after"]);
    });

    it("the word behind a command: what that one does, or the names of files", () => {
      expect(at(["servicenet", "cluster", "d"])).toEqual(["delete"]);
      expect(at(["servicenet", "token", "r"]).sort()).toEqual(["revoke", "rotate"]);
      expect(at(["servicenet", "import", ""])).toEqual(["files"]);
    });
  });
});

function lines(command: string, args: readonly string[]): string[] {
  return execFileSync(command, args, { encoding: "utf8" }).split("\n").filter(Boolean);
}
