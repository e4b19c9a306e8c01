/** `.ci/run -- --release` runs the long forms of what is repeated or random; `.ci/run` runs each of them short. */
export const isRelease = process.env["SERVICENET_RELEASE"] === "1";
