# The image of `theseus`: built files and their packages, and ssh for the updater; nothing else.
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends openssh-client && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 65532 --create-home theseus
WORKDIR /theseus
COPY --from=build /src/package.json ./
COPY --from=build /src/node_modules ./node_modules
COPY --from=build /src/dist ./dist
COPY --from=build /src/manifests ./manifests
USER 65532:65532
ENTRYPOINT ["node", "/theseus/dist/cmd/main.js"]
