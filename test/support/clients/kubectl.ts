/** kubectl in a cluster of its own: the frame of most files of the kubectl suite. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect } from "vitest";
import { kubectlCommand } from "./kubectl-command";
import { clusterForTests, NODES_ARE_NAMES, type Setting, type TestCluster } from "../server/cluster-for-tests";

interface Options {
  /** standard input */
  input?: string;
  /** further environment, for example KUBE_EDITOR */
  env?: Record<string, string>;
}

interface Outcome {
  code: number | null;
  out: string;
  err: string;
}

interface Background {
  /** its standard output and standard error so far */
  text(): string;
  /** Resolves when the output matches; fails the test otherwise. */
  until(pattern: RegExp): Promise<void>;
  /** exit code; null after stop() */
  ended: Promise<number | null>;
  stop(): void;
}

/** A command that lives for a moment needs no garbage collector, which takes a quarter of its time. */
export const WITHOUT_COLLECTOR = { GOGC: "off" };

export interface Kubectl {
  /** Runs a command line; spaces separate its words, 'single quotes' keep them together. */
  run(line: string, options?: Options): Outcome;
  /** Standard output of a command that has to succeed without a warning. */
  ok(line: string, input?: string): string;
  /** Standard error of a command that has to fail, with exit code 1 unless another one is told. */
  refused(line: string, options?: Options & { code?: number }): string;
  /** As `run`, beside other commands. */
  beside(line: string, options?: Options): Promise<Outcome>;
  /** A command that goes on while the test does something else. */
  background(line: string): Background;
  /** Writes a file, objects as JSON, and returns its path. */
  file(name: string, content: unknown): string;
  /** Writes a shell script that edits the file "$1", and returns its path. */
  editor(name: string, body: string): string;
  /** kubectl is its administrator */
  cluster: TestCluster;
}

/** For tests that show Nodes, Endpoints and EndpointSlices of their own beside Services: nobody else changes or makes any. */
export const OBJECTS_LEFT_ALONE = {
  controllers: [
    ...NODES_ARE_NAMES.controllers,
    ...["-endpointslice-controller", "-endpoints-controller", "-endpointslice-mirroring-controller"],
  ],
};

/** Makes a cluster before the tests of the file. What kubectl discovers there it keeps for all of them. */
export function kubectlInCluster(setting: Setting = {}): Kubectl {
  const cluster = clusterForTests(setting);
  const { folder } = cluster;
  let kubectl = "";
  let environment: NodeJS.ProcessEnv = {};
  beforeAll(() => {
    kubectl = kubectlCommand();
    mkdirSync(join(folder, "home"));
    environment = {
      ...WITHOUT_COLLECTOR,
      PATH: process.env["PATH"],
      HOME: join(folder, "home"),
      TMPDIR: folder,
      KUBECONFIG: cluster.kubeconfig,
    };
  });

  const settings = (env: Options["env"]) => ({ encoding: "utf8", env: { ...environment, ...env }, timeout: 30_000 }) as const;
  const run = (line: string, { input = "", env }: Options = {}): Outcome => {
    const { status, stdout, stderr } = spawnSync(kubectl, words(line), { ...settings(env), input });
    return { code: status, out: stdout, err: stderr };
  };
  const beside = (line: string, { input = "", env }: Options = {}): Promise<Outcome> =>
    new Promise((resolve) => {
      const child = execFile(kubectl, words(line), settings(env), (_, out, err) => resolve({ code: child.exitCode, out, err }));
      child.stdin?.end(input);
    });
  return {
    run,
    beside,
    ok: (line, input) => {
      const { code, out, err } = run(line, input === undefined ? {} : { input });
      expect({ line, code, err: withoutDeprecations(err) }).toEqual({ line, code: 0, err: "" });
      return out.trimEnd();
    },
    refused: (line, { code = 1, ...options } = {}) => {
      const outcome = run(line, options);
      expect({ line, code: outcome.code, err: outcome.err }).toMatchObject({ line, code });
      return withoutDeprecations(outcome.err).trimEnd();
    },
    background: (line) => {
      const child = spawn(kubectl, words(line), { env: environment, stdio: ["ignore", "pipe", "pipe"] });
      let text = "";
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      return {
        text: () => text,
        until: async (pattern) => {
          await expect.poll(() => text, { interval: 20 }).toMatch(pattern);
        },
        ended: new Promise((resolve) => child.on("close", resolve)),
        stop: () => child.kill(),
      };
    },
    file: (name, content) => {
      const path = join(folder, name);
      writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
      return path;
    },
    editor: (name, body) => {
      const path = join(folder, name);
      writeFileSync(path, `#!/bin/sh\n${body}\n`);
      chmodSync(path, 0o755);
      return path;
    },
    cluster,
  };
}

function words(line: string): string[] {
  return (line.match(/(?:[^\s']|'[^']*')+/g) ?? []).map((word) => word.replaceAll("'", ""));
}

/** A printed table as cells, header first; ages as AGE, because they pass. */
export function table(text: string): string[][] {
  return text.split("\n").map((row) =>
    row
      .trimEnd()
      .split(/ {2,}/)
      .map((cell) => (/^(?:\d+[smhdy])+$/.test(cell) ? "AGE" : cell)),
  );
}

/** Lines of a description with one space for each run of them; dates as DATE. */
function described(text: string): string[] {
  return text.split("\n").map((line) =>
    line
      .trim()
      .replaceAll(/ +/g, " ")
      .replaceAll(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} \+0000/g, "DATE"),
  );
}

/** The description has these lines, in this order; others may stand between them. */
export function expectLines(text: string, wanted: readonly string[]): void {
  let next = 0;
  for (const line of described(text)) if (line === wanted[next]) next++;
  expect({ missing: wanted[next], in: text }).toEqual({ missing: undefined, in: text });
}

/** kubectl tells on standard error that a version or a kind is deprecated, whatever else it says. */
function withoutDeprecations(err: string): string {
  return err.replace(/^Warning: \S+ \S+ is deprecated in v1\.\d+\+.*\n/gm, "");
}
