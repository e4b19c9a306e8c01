/**
 * The graceful stop of a local server. Every watch of this isolate ends with a proper end of body; new ones end at once. Clients then watch
 * again from their last revision. After a broken connection some clients give up for good. Polls of proxies end as if their time were over.
 *
 * Reached through the cron handler (stop-signal.ts), which no client can call.
 */
import type { Relay } from "../../api/relay/relay";
import { JSON_TYPE, PROTOBUF_TYPE, type Rendering } from "../http/answer/respond";
import { pollRelay } from "./poll-relay";
import { relay } from "./relay";

export class Waits {
  #isStopping = false;

  constructor(private readonly relays: readonly Pick<Relay, "stop">[]) {}

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Ends the open watches and polls. Later watches are answered with their end, later polls are refused. */
  end(): void {
    this.#isStopping = true;
    for (const one of this.relays) one.stop();
  }
}

/** One for each isolate. */
export const waits = new Waits([relay, pollRelay]);

/** A watch that is over before its first event. */
export function endedWatch(rendering: Rendering): Response {
  const type = rendering === "protobuf" ? `${PROTOBUF_TYPE};stream=watch` : JSON_TYPE;
  return new Response("", { headers: { "Content-Type": type, "Cache-Control": "no-cache, private" } });
}
