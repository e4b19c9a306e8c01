/** A program of test/clients as a process: it prints JSON, a line each. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const ANSWER_MS_MAX = 60_000;

export class ClientProgram {
  readonly lines: Record<string, unknown>[] = [];
  /** exit code; null = ended by a signal */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcessWithoutNullStreams;
  #problems = "";
  #over = false;

  constructor(command: string, args: readonly string[], env: Record<string, string> = {}) {
    this.#child = spawn(command, args, { env: { ...process.env, ...env } });
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => (this.#problems += text));
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.lines.push(JSON.parse(line) as Record<string, unknown>));
    this.ended = new Promise((resolve) => {
      this.#child.on("close", (code) => {
        this.#over = true;
        resolve(code);
      });
    });
  }

  /** what it wrote to stderr */
  get problems(): string {
    return this.#problems;
  }

  /** Writes a line and answers the next one that the program prints. */
  ask(line: string): Promise<Record<string, unknown>> {
    const before = this.lines.length;
    this.#child.stdin.write(`${line}\n`);
    return this.line(before);
  }

  /** The line at this place. Throws when the program ends before, or takes too long. */
  async line(at: number): Promise<Record<string, unknown>> {
    for (const deadline = Date.now() + ANSWER_MS_MAX; ;) {
      const found = this.lines[at];
      if (found) return found;
      if (this.#over || Date.now() > deadline) throw new Error(`no line ${String(at + 1)}: ${this.#problems}`);
      await sleep(20);
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }
}
