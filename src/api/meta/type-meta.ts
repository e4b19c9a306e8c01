/** Objects are stored without kind and apiVersion. The served form is the stored text with the two members in front. */

/** `{"kind":"Service","apiVersion":"v1"`: the beginning of a served object. Make it once for each response, not for each object. */
export function typeHead(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)}`;
}

/** The served text of a stored one. `head` is of `typeHead`; `stored` is a JSON object without kind and apiVersion. */
export function spliceTypeMeta(head: string, stored: string): string {
  return stored.length <= 2 ? `${head}}` : `${head},${stored.slice(1)}`;
}

/** `v1`, `networking.k8s.io/v1` */
export function apiVersionOf(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}
