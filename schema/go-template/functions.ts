// Functions that templates of patches may call: those of the language, and the ones of sprig that give the same result each time.
// Here: names only. Source: text/template; github.com/Masterminds/sprig, hermetic functions.
const LANGUAGE = "and call html index slice js len not or print printf println urlquery eq ge gt le lt ne";

const SPRIG = `
hello ago duration durationRound must_date_modify mustDateModify mustToDate toDate unixEpoch
abbrev abbrevboth trunc trim upper lower title untitle substr repeat trimall trimAll trimSuffix trimPrefix nospace initials swapcase shuffle
snakecase camelcase kebabcase wrap wrapWith contains hasPrefix hasSuffix quote squote cat indent nindent replace plural sha1sum sha256sum
sha512sum adler32sum toString atoi int64 int float64 seq toDecimal split splitList splitn toStrings until untilStep add1 add sub div mod mul randInt
add1f addf subf divf mulf biggest max min maxf minf ceil floor round join sortAlpha default empty coalesce all any compact mustCompact
fromJson toJson toPrettyJson toRawJson mustFromJson mustToJson mustToPrettyJson mustToRawJson ternary deepCopy mustDeepCopy
typeOf typeIs typeIsLike kindOf kindIs deepEqual base dir clean ext isAbs osBase osClean osDir osExt osIsAbs b64enc b64dec b32enc b32dec
tuple list dict get set unset hasKey pluck keys pick omit merge mergeOverwrite mustMerge mustMergeOverwrite values
append push mustAppend mustPush prepend mustPrepend first mustFirst rest mustRest last mustLast initial mustInitial reverse mustReverse
uniq mustUniq without mustWithout has mustHas mustSlice concat dig chunk mustChunk
bcrypt htpasswd genPrivateKey derivePassword buildCustomCert genCA genCAWithKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert
genSignedCertWithKey encryptAES decryptAES semver semverCompare fail
regexMatch mustRegexMatch regexFindAll mustRegexFindAll regexFind mustRegexFind regexReplaceAll mustRegexReplaceAll
regexReplaceAllLiteral mustRegexReplaceAllLiteral regexSplit mustRegexSplit regexQuoteMeta urlParse urlJoin
`;

export const templateFunctions: ReadonlySet<string> = new Set(`${LANGUAGE} ${SPRIG}`.split(/\s+/).filter((name) => name !== ""));
