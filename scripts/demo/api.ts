/** Writes of a demonstration to its server, which need no credentials. */
import { send } from "../cluster/send";

/** Throws unless the server does it. */
export async function write<T = unknown>(url: string, method: string, path: string, body?: object): Promise<T> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const { status, text } = await send({ url, options: {} }, method, path, body, type);
  if (status >= 300) throw new Error(`${method} ${path}: ${String(status)} ${text}`);
  return JSON.parse(text) as T;
}

/** Whatever takes longer has gone wrong, also on a busy machine. */
const PATIENCE_MS = 120_000;

/** `what` is waited for: it is in the error if it never comes. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; !(await isSo());) {
    if (performance.now() > deadline) throw new Error(`it takes longer than two minutes until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
