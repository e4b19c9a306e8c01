/** Answers of stores in a form that stores do not send: pretty printed and YAML lists, and refusals in protobuf. */
import type { Status } from "../../../api/meta/status";
import { RENDER_MAX_BYTES } from "../limits";
import { JSON_TYPE, render, type Rendering, statusResponse, YAML_TYPE } from "./respond";

/**
 * A store's list in the asked form, with the store's code and headers. Lists in protobuf are the store's own. A list too large to hold stays compact, which is valid YAML too. Rejects where
 * the store's stream breaks off.
 */
export async function rerendered(response: Response, rendering: Rendering): Promise<Response> {
  const { status, body } = response;
  if (rendering === "protobuf") return status < 400 ? response : statusResponse((await response.json()) as Status, rendering);
  if (rendering === "compact" || !body || !response.headers.get("Content-Type")?.startsWith(JSON_TYPE)) return response;
  const headers = new Headers(response.headers);
  headers.delete("Content-Length");
  if (rendering === "yaml") headers.set("Content-Type", YAML_TYPE);
  const reader = body.getReader();
  const begun: Uint8Array[] = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    begun.push(read.value);
    size += read.value.length;
    if (size > RENDER_MAX_BYTES[rendering]) return new Response(goneOn(begun, reader), { status, headers });
  }
  return new Response(render(await new Blob(begun).text(), rendering), { status, headers });
}

/** The chunks that were read already, then the rest of the stream. */
function goneOn(begun: Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const held = begun.shift();
      if (held) return controller.enqueue(held);
      const read = await reader.read();
      if (read.done) controller.close();
      else controller.enqueue(read.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
