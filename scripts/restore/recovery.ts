/**
 * Point-in-time recovery of single objects: each is asked to go back, one after the other. Stores that have gone back to a time then begin above every
 * revision that clients can have seen (rule 32).
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../cluster/api";
import { UserError } from "../terminal/user-error";
import { beginAbove } from "./beginning";

/** An object starts anew a tenth of a second behind its answer. What it is told before that is gone with its present. */
const RESTART_MS = 2_000;

/** The answer for `controllers/repair` says that its list of used stores could not be put in doubt. */
const UNSURE = `controllers/repair has gone back, and may take a store that is used for unused
when it answers: --recovered all --as-of TIME`;

export interface Recovered {
  object: string;
  /** the bookmark that leads back */
  undo: string;
}

/**
 * Hands each object that goes back to `recovered`, at once: its way back is known nowhere else. Throws UserError at the first one that does not, when those
 * before it have begun. Answers where each store begins; none does behind a bookmark, whose time nobody knows.
 *
 * @param target a time, or a bookmark that a recovery before has answered
 */
export async function recover(
  api: Api,
  objects: readonly string[],
  target: { time: string } | { bookmark: string },
  recovered: (one: Recovered) => void,
): Promise<Record<string, string>> {
  const stores: string[] = [];
  let refusal: UserError | undefined;
  let isUnsure = false;
  for (const object of objects) {
    const { code, message, object: answer } = await api.post("/recoveries", { object, ...target });
    if (code === 404) refusal = new UserError(`${api.url} answers 404 to POST /recoveries: it is no Servicenet of this release`);
    else if (code >= 300) refusal = new UserError(`${object} was not brought back: ${code} ${message}`);
    if (refusal) break;
    const { undo = "", doubted } = answer as { undo?: string; doubted?: boolean };
    recovered({ object, undo });
    isUnsure ||= doubted === false;
    if (isStore(object)) stores.push(object);
  }
  const revisions = "time" in target && stores.length > 0 ? await beginning(api, stores, target.time) : {};
  const failures = [refusal?.message, isUnsure ? UNSURE : undefined].filter((text) => text !== undefined);
  if (failures.length > 0) throw new UserError(failures.join("\n"));
  return revisions;
}

/** Others are `owners/UID` and `controllers/NAME`. */
export function isStore(object: string): boolean {
  return !object.includes("/");
}

async function beginning(api: Api, stores: readonly string[], asOf: string): Promise<Record<string, string>> {
  await sleep(RESTART_MS);
  try {
    return (await beginAbove(api, { asOf, resources: stores })) ?? {};
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UserError(`${why}\nwhen that is mended: --recovered ${stores.join(",")} --as-of ${asOf}`);
  }
}
