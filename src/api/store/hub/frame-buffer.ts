/** Frames of a watch, joined into chunks of bytes. */

/** One event in its final form: a line of text, or the bytes of a protobuf frame. The frames of one view are all of one sort. */
export type WatchFrame = string | Uint8Array;

const encoder = new TextEncoder();

export function frameBytes(frame: WatchFrame): Uint8Array {
  return typeof frame === "string" ? encoder.encode(frame) : frame;
}

/** Frames of one view. Text is encoded once, when it is taken. */
export class FrameBuffer {
  #text = "";
  #frames: Uint8Array[] = [];
  #size = 0;

  /** characters or bytes that it holds */
  get size(): number {
    return this.#size;
  }

  add(frame: WatchFrame): void {
    this.#size += frame.length;
    if (typeof frame === "string") this.#text += frame;
    else this.#frames.push(frame);
  }

  /** The bytes of all frames, in order; the buffer is empty then. */
  take(): Uint8Array {
    const taken = this.#frames.length === 0 ? encoder.encode(this.#text) : joined(this.#frames, this.#size);
    this.#text = "";
    this.#frames = [];
    this.#size = 0;
    return taken;
  }
}

function joined(frames: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const frame of frames) {
    bytes.set(frame, at);
    at += frame.length;
  }
  return bytes;
}
