// Regular expressions of the API, by name. Source: spec/api/common.md section 3.

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;

export const subdomainPattern = `^${SUBDOMAIN}$`;
export const labelPattern = `^${LABEL}$`;
export const kindPattern = "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$";
export const groupVersionPattern = `^${SUBDOMAIN}\\/[a-z]([-a-z0-9]*[a-z0-9])?$`;
export const conditionTypePattern = `^(${SUBDOMAIN}/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`;
export const taintKeyPattern = `^(${SUBDOMAIN}\\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`;
export const labelValuePattern = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";
export const reasonPattern = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
export const rangePattern = "^\\[[0-9]+-[0-9]+\\]$";
