/** Random requests from schemathesis to a server of their own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, type Server, startServer, temporaryFolder } from "../../../test/support/server/server";
import { reportText } from "../../check/report-text";
import { runRepair } from "../../check/run";
import { Api } from "../../cluster/api";
import { progressOn } from "../../terminal/progress";
import { pythonEnvironment } from "../testing/python-environment";
import { fuzzDocument } from "./document";
import type { FuzzOptions } from "./options";

/** With several, requests of one seed would meet each other differently in each run. */
const WORKERS = 1;
const REQUEST_SECONDS_MAX = 30;
/** Random IPAddresses and the like are wrong until they are repaired. */
const REPAIR_MS_MAX = 120_000;

/** Prints what the program finds. Resolves to whether it found nothing. */
export async function fuzz(options: FuzzOptions): Promise<boolean> {
  const { minutes, seed } = options;
  const programs = pythonEnvironment({ name: "fuzz", requirements: join(import.meta.dirname, "requirements.txt") });
  console.log(`Random requests for ${minutes} minutes: npm run fuzz -- --minutes ${minutes} --seed ${seed}`);
  const folder = temporaryFolder();
  const server = await startServer(join(folder, "data"));
  try {
    const nothingFound = await requests({ server, folder, programs }, options);
    const errors = server.output().match(/^.*"level":"error".*$/gm) ?? [];
    for (const line of errors) console.log(`in the server's log: ${line}`);
    const report = await runRepair({ api: new Api({ url: server.url, options: {} }), progress: progressOn(process.stderr) }, REPAIR_MS_MAX);
    console.log(reportText(report));
    return nothingFound && errors.length === 0 && report.wrong.length === 0;
  } finally {
    await server.kill();
    removeFolder(folder);
  }
}

interface Run {
  server: Server;
  folder: string;
  /** where schemathesis is */
  programs: string;
}

async function requests({ server, folder, programs }: Run, { minutes, seed }: FuzzOptions): Promise<boolean> {
  const document = join(folder, "openapi.json");
  writeFileSync(document, JSON.stringify(await fuzzDocument(server.url)));
  const args = [
    "run",
    document,
    "--url",
    server.url,
    "--max-time",
    String(minutes * 60),
    "--seed",
    String(seed),
    "--workers",
    String(WORKERS),
  ];
  const checks = ["--checks", "answers_as_documented", "--request-timeout", String(REQUEST_SECONDS_MAX)];
  // Slow generation is no fault of the server: that check of schemathesis is about the clock, and a busy machine fails it.
  const generation = ["--suppress-health-check", "too_slow", "--generation-database", "none"];
  const output = ["--no-color", "--warnings", "off"];
  const child = spawn(join(programs, "st"), [...args, ...checks, ...generation, ...output], {
    cwd: folder,
    env: { ...process.env, PYTHONPATH: import.meta.dirname, PYTHONDONTWRITEBYTECODE: "1", SCHEMATHESIS_HOOKS: "hooks" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  // Ctrl-C ends the program itself, which then prints what it found so far.
  const wait = () => undefined;
  process.on("SIGINT", wait);
  const [code] = (await once(child, "close")) as [number | null];
  process.off("SIGINT", wait);
  return code === 0;
}
