# syntax=docker/dockerfile:1
# The image of orcrawl. Without Chromium: docker build -t orcrawl .
#                       With it:         docker build -t orcrawl:chromium --build-arg CHROMIUM=1 .
# It runs as a user without rights and writes only to /data and /tmp: docker run --read-only --tmpfs /tmp -v data:/data orcrawl

FROM node:22-bookworm-slim AS build
ARG CHROMIUM=0
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/build-console.mjs scripts/bundle.mjs scripts/image-packages.mjs ./scripts/
COPY src ./src
RUN node scripts/build.mjs
# Nobody can install packages in a read-only image: object stores and Postgres work as it is, browsers if it has one.
RUN node scripts/image-packages.mjs @aws-sdk/client-s3 pg $(test "$CHROMIUM" = 0 || echo playwright-core)
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:22-bookworm-slim
ARG CHROMIUM=0
# tini forwards signals and buries what browsers leave behind.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tini ca-certificates \
    && if [ "$CHROMIUM" = 1 ]; then apt-get install --yes --no-install-recommends chromium fonts-liberation fonts-noto-core; fi \
    && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 orcrawl \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin orcrawl \
    && mkdir /data \
    && chown 10001:10001 /data
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE README.md ./
COPY templates ./templates
# A handler in any folder can import 'orcrawl', and a shell knows it by name.
RUN ln -s /app /app/node_modules/orcrawl \
    && ln -s /app/node_modules /node_modules \
    && ln -s /app/dist/cli/main.js /usr/local/bin/orcrawl
ENV NODE_ENV=production
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8001
ENTRYPOINT ["/usr/bin/tini", "--", "node", "/app/dist/cli/main.js"]
CMD ["--help"]
