# The worker: the package as it is published, with the dependencies of package-lock.json, run by a user without
# rights. docker-compose.yml builds and runs it.

FROM node:24.21.0-bookworm-slim AS package
WORKDIR /source
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# What is unpacked is what `npm install` would bring; the lock file says in which versions the rest comes.
RUN npm run build \
 && npm pack --ignore-scripts --pack-destination /tmp \
 && mkdir /package \
 && tar -xzf /tmp/holdfast-*.tgz -C /package --strip-components=1 \
 && cp package-lock.json /package/ \
 && chmod +x /package/dist/cli/main.js
WORKDIR /package
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
# TLS to a Temporal server needs the authorities' certificates. Tools your agents call go here too, in an image of
# your own: see "Tools of your own" in docs/deploying.md.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && mkdir /workspace \
 && chown node:node /workspace
COPY --from=package /package /opt/holdfast
RUN ln -s /opt/holdfast/dist/cli/main.js /usr/local/bin/holdfast
ENV NODE_ENV=production
USER node
WORKDIR /workspace
ENTRYPOINT ["holdfast"]
CMD ["worker"]
