/** Whether the long forms run, as before a release. */
export const isRelease = (import.meta as { env?: Record<string, string | undefined> }).env?.["SERVICENET_RELEASE"] === "1";
