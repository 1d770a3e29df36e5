// How a hook's refusal looks to the client. Here: the Status made of the hook's own. Not here: when a hook refuses.
import type { Status } from "../../api/meta/status.ts";
import { ApiError } from "../errors.ts";

/** Code, reason and details are the hook's; the text names the hook. Without a status: 400 and no reason. */
export function denial(webhook: string, given: Partial<Status> = {}): ApiError {
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = given.message || given.reason;
  const code = typeof given.code === "number" && given.code >= 400 ? given.code : 400;
  return new ApiError({
    ...given,
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: why ? `${denied}: ${why}` : `${denied} without explanation`,
    code,
  });
}
