/** Asks a server about its tokens. */
import { send } from "../cluster/send";
import type { Target } from "../cluster/target";
import { WrongScheme } from "../cluster/wrong-scheme";
import { textTable } from "../terminal/table";
import { UserError } from "../terminal/user-error";
import type { TokenTask } from "./options";

/** As the server answers it (src/worker/system/tokens.ts). */
export interface ShownToken {
  id: string;
  user: string;
  groups: string[];
  clusters?: string[];
  agentNamespaces?: string[];
  agentLabels?: string[];
  description: string;
  state: string;
  createdAt: string;
  expiresAt?: string;
  lastUsed?: string;
  /** its text; of a new one, and of a rotated one */
  token?: string;
}

const PATH = "/admin/tokens";

/** What the server answers. Throws UserError where it refuses. */
export async function runTask(target: Target, task: TokenTask): Promise<ShownToken | ShownToken[]> {
  switch (task.kind) {
    case "list":
      return (await ask<{ items: ShownToken[] }>(target, "GET", PATH)).items;
    case "create": {
      const { user, groups, clusters, agentNamespaces, agentLabels, expiresAt, description } = task;
      const end = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
      return ask(target, "POST", PATH, { user, groups, clusters, agentNamespaces, agentLabels, expiresAt: end, description });
    }
    case "rotate":
      return ask(target, "POST", `${PATH}/${encodeURIComponent(task.id)}/rotate`, { graceSeconds: task.graceSeconds });
    case "revoke":
      return ask(target, "DELETE", `${PATH}/${encodeURIComponent(task.id)}`);
  }
}

async function ask<T>(target: Target, method: string, path: string, body?: object): Promise<T> {
  const reply = await send(target, method, path, body, "application/json").catch((error: unknown) => {
    if (error instanceof WrongScheme) throw error;
    throw new UserError(`${target.url} does not answer: ${error instanceof Error ? error.message : String(error)}`);
  });
  const document = parsed(reply.text) as T & { message?: string };
  if (reply.status >= 300) throw new UserError(`${target.url} refuses: ${reply.status} ${document.message ?? reply.text.trim()}`);
  return document;
}

function parsed(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    return {};
  }
}

const COLUMNS = ["ID", "USER", "GROUPS", "CLUSTERS", "STATE", "EXPIRES", "LAST USED", "DESCRIPTION"];

/** A table of tokens. */
export function tableOf(tokens: readonly ShownToken[]): string {
  const rows = tokens.map(({ id, user, groups, clusters, state, expiresAt, lastUsed, description }) => [
    id,
    user,
    groups.join(",") || "-",
    clusters?.join(",") ?? "all",
    state,
    expiresAt ?? "never",
    lastUsed ?? "-",
    description || "-",
  ]);
  return textTable(COLUMNS, rows);
}
