/** A cluster of real Durable Objects as clients see it: requests through the Worker's routes, ticks of cron through its handler. */
import { createExecutionContext, createScheduledController, env } from "cloudflare:test";
import type { ControllerName } from "../../../durable-objects/platform/controllers";
import type { Env } from "../../../durable-objects/platform/env";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { app } from "../../../src/worker/app";
import worker from "../../../src/worker/index";
import { cronOf } from "../shards/real-shards";
import { freshCluster } from "../objects/store-stubs";

export const bindings = env as unknown as Env;

/** What an object, a list or a Status has. */
export type AppAnswer = KubeObject & { code?: number; message?: string; items?: KubeObject[] };

export class AppCluster<Answer extends AppAnswer = AppAnswer> {
  /** @param vars of the Worker, beside the bindings */
  constructor(
    readonly name = freshCluster(),
    private readonly vars: Partial<Env> = {},
  ) {}

  /** A request to this path of the cluster. Patches are merge patches. */
  async send(method: string, path: string, body?: object): Promise<{ code: number; body: Answer }> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const init = { method, headers: { "Content-Type": type }, ...(body ? { body: JSON.stringify(body) } : {}) };
    const url = `http://h/clusters/${this.name}${path}`;
    const response = await app.request(url, init, { ...bindings, ...this.vars }, createExecutionContext());
    return { code: response.status, body: await response.json() };
  }

  object(name: ControllerName): DurableObjectStub {
    return bindings.CONTROLLER.getByName(`${this.name}/controllers/${name}`);
  }

  /** The tick of a minute. */
  tick(): Promise<void> {
    return worker.scheduled(createScheduledController({ cron: "* * * * *" }), cronOf(bindings, this.name), createExecutionContext());
  }
}
