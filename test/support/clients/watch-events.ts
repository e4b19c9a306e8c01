/** The events of a watch over HTTP, in whichever form the server sends them. */
import { concatenated, PROTOBUF, readFrames } from "../values/protobuf-answers";

/**
 * Events until the body ends.
 *
 * @param whenBroken what a broken connection does: it throws, or it is an end like any other
 */
export async function* eventsOf<Event>(response: Response, whenBroken: "throw" | "end" = "throw"): AsyncGenerator<Event> {
  if (!response.body) return;
  const eventsIn = response.headers.get("Content-Type") === `${PROTOBUF};stream=watch` ? frameReader() : lineReader();
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const over = { done: true as const, value: undefined };
  for (;;) {
    const chunk = await (whenBroken === "end" ? reader.read().catch(() => over) : reader.read());
    if (chunk.done) return;
    yield* eventsIn(chunk.value) as Event[];
  }
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
