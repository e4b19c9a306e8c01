/** The inspector of a running workerd: the part of the Chrome DevTools protocol that takes CPU profiles. */
import { fetch, type WebSocket } from "miniflare";
import type { CpuProfile } from "./profiled-functions";

/** The service of the Worker and of all its objects (scripts/serve/workerd/server-config.ts). */
const TARGET = "worker";
/** Between two samples: twice as often as by default, for loads of seconds. */
const INTERVAL_MICROS = 500;

interface Reply {
  id?: number;
  error?: { message: string };
  result?: unknown;
}

export class Inspector {
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #calls = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.addEventListener("message", ({ data }) => {
      const { id = 0, error, result } = JSON.parse(String(data)) as Reply;
      const call = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) call?.reject(new Error(error.message));
      else call?.resolve(result);
    });
    socket.addEventListener("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the inspector has closed its connection"));
    });
    socket.accept();
  }

  static async connect(port: number): Promise<Inspector> {
    const { status, webSocket } = await fetch(`http://127.0.0.1:${String(port)}/${TARGET}`, { headers: { Upgrade: "websocket" } });
    if (!webSocket) throw new Error(`the inspector has answered ${String(status)}`);
    const inspector = new Inspector(webSocket);
    await inspector.#call("Profiler.enable");
    await inspector.#call("Profiler.setSamplingInterval", { interval: INTERVAL_MICROS });
    return inspector;
  }

  /** What the Worker does while `work` runs. */
  async profile(work: () => Promise<unknown>): Promise<CpuProfile> {
    await this.#call("Profiler.start");
    await work();
    const { profile } = (await this.#call("Profiler.stop")) as { profile: CpuProfile };
    return profile;
  }

  close(): void {
    this.socket.close();
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
