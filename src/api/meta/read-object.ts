import { parseJson } from "../../core/encoding/exact-json";
import type { KubeObject } from "./kubernetes";

/** The object in a stored text; undefined = the text is damaged. */
export function readObject<T extends KubeObject>(text: string): T | undefined {
  try {
    const object = parseJson(text) as T | null;
    return typeof object?.metadata?.name === "string" ? object : undefined;
  } catch {
    return undefined;
  }
}
