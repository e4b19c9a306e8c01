/** Frames of a watch that are encoded piece by piece, so that many of them are never held twice. */
import { FrameBuffer, type WatchFrame } from "../hub/frame-buffer";

/** Characters or bytes. */
const PIECE_SIZE = 256 * 1024;

export class EncodedPieces {
  readonly #done: Uint8Array[] = [];
  readonly #frames = new FrameBuffer();

  constructor(private readonly pieceSize = PIECE_SIZE) {}

  get isEmpty(): boolean {
    return this.#frames.size === 0 && this.#done.length === 0;
  }

  add(frame: WatchFrame): void {
    this.#frames.add(frame);
    if (this.#frames.size >= this.pieceSize) this.#done.push(this.#frames.take());
  }

  finish(): Uint8Array[] {
    if (this.#frames.size > 0) this.#done.push(this.#frames.take());
    return this.#done;
  }
}
