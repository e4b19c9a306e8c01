/** An API server whose lists of Services and slices are answered when the test says so, and whose watches stay open. */
import { expect } from "vitest";
import type { FetchLike } from "../../../src/api/client/fetch-like";
import type { KubeObject } from "../../../src/api/meta/kubernetes";

type Kind = "services" | "endpointslices";

export class HeldServer {
  readonly asked: string[] = [];
  readonly #lists = new Map<Kind, (answer: { status: number; items: KubeObject[] }) => void>();
  readonly #watches = new Map<Kind, (line: string) => void>();

  readonly fetch: FetchLike = async (path) => {
    this.asked.push(path);
    const kind = path.includes("endpointslices") ? "endpointslices" : "services";
    if (!path.includes("watch=true")) {
      const { status, items } = await new Promise<{ status: number; items: KubeObject[] }>((resolve) => this.#lists.set(kind, resolve));
      const text = JSON.stringify({ metadata: { resourceVersion: "1" }, items });
      return { status, text: () => Promise.resolve(text), body: null };
    }
    const next = () => new Promise<string>((resolve) => this.#watches.set(kind, resolve));
    async function* body() {
      for (;;) yield await next();
    }
    return { status: 200, text: () => Promise.resolve(""), body: body() };
  };

  async list(kind: Kind, items: KubeObject[], status = 200): Promise<void> {
    await expect.poll(() => this.#lists.has(kind)).toBe(true);
    this.#lists.get(kind)?.({ status, items });
    this.#lists.delete(kind);
  }

  async send(kind: Kind, type: string, object: KubeObject): Promise<void> {
    await expect.poll(() => this.#watches.has(kind)).toBe(true);
    this.#watches.get(kind)?.(`${JSON.stringify({ type, object })}\n`);
    this.#watches.delete(kind);
  }

  /** Whether the watch is open and its last event has been taken in. */
  isTaken(kind: Kind): boolean {
    return this.#watches.has(kind);
  }
}
