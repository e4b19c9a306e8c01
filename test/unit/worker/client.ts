/** GET requests into the cluster `default` of an app whose objects are fakes. */
import { expect } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { app } from "../../../src/worker/app";
import { type Answers, fakeEnv } from "./fake-env";

const CONTEXT: Parameters<typeof app.request>[3] = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };

/** One request to the app with these bindings. */
export function send(url: string | Request, init: RequestInit | undefined, env: Env): Promise<Response> {
  return Promise.resolve(app.request(url, init, env, CONTEXT));
}

export function get(path: string, headers: Record<string, string> = {}, answers: Answers = {}): Promise<Response> {
  return send(`http://h${path}`, { headers }, fakeEnv(answers).env);
}

export async function json<T>(path: string, headers: Record<string, string> = {}): Promise<T> {
  const response = await get(path, headers);
  expect(response.status).toBe(200);
  return response.json();
}
