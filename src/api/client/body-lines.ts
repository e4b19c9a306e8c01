/** The lines of an answer's body as they come. */

type Chunk = Uint8Array | string;

/** The body of an answer: a web stream, with or without an iterator, or a stream of Node. */
export type Body = AsyncIterable<Chunk> | { getReader(): ChunkReader };

interface ChunkReader {
  read(): Promise<{ done: boolean; value?: Chunk }>;
  cancel(): Promise<void>;
}

/** The whole lines of each chunk; chunks without one are skipped. */
export async function* linesOf(body: Body): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunksOf(body)) {
    const lines = (rest + (typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }))).split("\n");
    rest = lines.pop() ?? "";
    const whole = lines.filter((line) => line.trim() !== "");
    if (whole.length > 0) yield whole;
  }
}

/** The chunks of the body, and its end, as they come. */
export async function* chunksOf(body: Body): AsyncGenerator<Chunk> {
  if (Symbol.asyncIterator in body) {
    yield* body;
    return;
  }
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value !== undefined) yield value;
    }
  } finally {
    await reader.cancel();
  }
}
