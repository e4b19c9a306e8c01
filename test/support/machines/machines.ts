/** Machines of a test: network namespaces on one bridge. It needs root. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endWithUs } from "../server/children";

export interface Machine {
  readonly name: string;
  readonly address: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** all that it has written */
  output(): string;
  /** its exit code */
  readonly ended: Promise<number | null>;
}

interface Setting {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

export class Machines {
  readonly #running: Running[] = [];

  readonly #made: string[] = [];

  constructor(private readonly setting: Setting) {}

  /** The first one has the bridge, and is the router of the others; all addresses are in one /24. Throws where namespaces cannot be made. */
  make([first, ...others]: readonly [Machine, ...Machine[]]): void {
    for (const { name } of [first, ...others]) {
      ip("netns", "add", space(name));
      this.#made.push(name);
      ipOf(name, "link", "set", "lo", "up");
      mkdirSync(etc(name), { recursive: true });
    }
    ipOf(first.name, "link", "add", "bridge", "type", "bridge");
    ipOf(first.name, "address", "add", `${first.address}/24`, "dev", "bridge");
    ipOf(first.name, "link", "set", "bridge", "up");
    for (const { name, address } of others) {
      ipOf(first.name, "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", space(name));
      ipOf(first.name, "link", "set", name, "master", "bridge", "up");
      ipOf(name, "address", "add", `${address}/24`, "dev", "eth0");
      ipOf(name, "link", "set", "eth0", "up");
      ipOf(name, "route", "add", "default", "via", first.address);
    }
  }

  /** Its /etc/resolv.conf, for programs that start later. */
  resolves(machine: string, text: string): void {
    writeFileSync(join(etc(machine), "resolv.conf"), text);
  }

  /** Runs a line of a shell to its end; throws when it fails. Answers its standard output. */
  run(machine: string, line: string): string {
    const { cwd, env } = this.setting;
    return execFileSync("ip", ["netns", "exec", space(machine), "sh", "-c", line], { cwd, env, encoding: "utf8", timeout: 60_000 });
  }

  /** Starts a line of a shell: one command, which becomes the child. */
  start(machine: string, line: string): Running {
    const { cwd, env } = this.setting;
    const child = spawn("ip", ["netns", "exec", space(machine), "sh", "-c", `exec ${line}`], { cwd, env });
    endWithUs(child, () => child.kill("SIGKILL"));
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    const running = { child, output: () => output, ended: once(child, "close").then(([code]) => code as number | null) };
    this.#running.push(running);
    return running;
  }

  /** Ends everything; what was started first, which the others need, at last. */
  async end(): Promise<void> {
    const stop = ({ child, ended }: Running): Promise<unknown> => {
      child.kill("SIGTERM");
      return ended;
    };
    const [first, ...others] = this.#running;
    await Promise.all(others.map(stop));
    if (first) await stop(first);
    for (const name of this.#made) {
      ip("netns", "delete", space(name));
      rmSync(etc(name), { recursive: true, force: true });
    }
  }
}

/** Of a machine: namespaces are the kernel's, and two runs of a test may have machines of one name. */
function space(machine: string): string {
  return `servicenet-${String(process.pid)}-${machine}`;
}

/** What `ip netns exec` puts over /etc. */
function etc(machine: string): string {
  return join("/etc/netns", space(machine));
}

function ipOf(machine: string, ...args: string[]): void {
  ip("-n", space(machine), ...args);
}

function ip(...args: string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "inherit"] });
}
