/** GET requests into the cluster `default` of an app whose objects are fakes. */
import { expect } from "vitest";
import { app } from "../../../src/worker/app";
import { type Answers, fakeEnv } from "./fake-env";

export function get(path: string, headers: Record<string, string> = {}, answers: Answers = {}): Promise<Response> {
  return Promise.resolve(app.request(`http://h${path}`, { headers }, fakeEnv(answers).env));
}

export async function json<T>(path: string, headers: Record<string, string> = {}): Promise<T> {
  const response = await get(path, headers);
  expect(response.status).toBe(200);
  return response.json();
}
