# Build: docker build -t reseller --build-arg RESELLER_COMMIT=$(git rev-parse --short=12 HEAD) .
# Run:   docker run -d --name reseller -p 127.0.0.1:8080:8080 -v reseller-data:/data reseller
# Admin: docker exec reseller /reseller admin user list

FROM node:20.20.2-bookworm-slim AS build
WORKDIR /src
COPY package.json bun.lock bunfig.toml ./
RUN npx -y bun@1.4.5 install --frozen-lockfile
COPY . .
ARG RESELLER_COMMIT=unknown
RUN RESELLER_COMMIT=$RESELLER_COMMIT npx -y bun@1.4.5 run build
# The image holds the binary, the C library it is linked to, and an empty data directory: no shell, nothing else.
RUN mkdir -p /image/data /image/tmp \
  && cp dist/reseller /image/reseller \
  && ldd dist/reseller | grep -o '/[^ ]*' | sort -u | xargs cp -L --parents -t /image

FROM scratch
COPY --from=build /image/ /
COPY --from=build --chown=10001:10001 --chmod=700 /image/data /data
USER 10001:10001
ENV RESELLER_DATA=/data RESELLER_HOST=0.0.0.0
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=6s --start-period=5s CMD ["/reseller", "health"]
ENTRYPOINT ["/reseller"]
CMD ["serve"]
