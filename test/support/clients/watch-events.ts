/** The events of a watch over HTTP, in whichever form the server sends them. */
import { concatenated, PROTOBUF, readFrames } from "../values/protobuf-answers";

/**
 * Events until the body ends. Who takes no more of them ends the watch.
 *
 * @param whenBroken what a broken connection does: it throws, or it is an end like any other
 */
export async function* eventsOf<Event>(response: Response, whenBroken: "throw" | "end" = "throw"): AsyncGenerator<Event> {
  if (!response.body) return;
  const eventsIn = response.headers.get("Content-Type") === `${PROTOBUF};stream=watch` ? frameReader() : lineReader();
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const over = { done: true as const, value: undefined };
  try {
    for (;;) {
      const chunk = await (whenBroken === "end" ? reader.read().catch(() => over) : reader.read());
      if (chunk.done) return;
      yield* eventsIn(chunk.value) as Event[];
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** So many events, or fewer where the body ends before. Ends the watch behind them. */
export async function firstEvents<Event>(response: Response, count: number): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of eventsOf<Event>(response)) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

/** JSON documents, one a line. */
function lineReader(): (chunk: Uint8Array) => unknown[] {
  const decoder = new TextDecoder();
  let rest = "";
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    return lines.map((line) => JSON.parse(line) as unknown);
  };
}

function frameReader(): (chunk: Uint8Array) => unknown[] {
  let rest: Uint8Array = new Uint8Array();
  return (chunk) => {
    const read = readFrames(concatenated([rest, chunk]));
    rest = read.rest;
    return read.events;
  };
}
