/** One request inside a group and version, before its body is read: what all kinds of targets have in common. */
import type { Rendering } from "../http/answer/respond";
import type { PathRequest } from "../system/path-request";
import type { Count } from "./counted";

export interface TargetRequest extends PathRequest {
  userAgent: string;
  /** the header Accept */
  accept: string | null;
  /** how refusals are written */
  refusal: Rendering;
  /** counts the answer, and hands it on: every answer passes here */
  count: Count;
}
