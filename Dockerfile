# The image of a released program, from dist/release (`bun run release linux-x64`, or downloaded):
# Build: xz -dk dist/release/reseller-linux-x64.xz && docker build -t reseller --build-arg VERSION=0.9.0 --build-arg COMMIT=$(git rev-parse HEAD) .
# Run:   deploy/compose.sqlite.yaml, or: docker run -d --name reseller -p 127.0.0.1:8080:8080 -v reseller-data:/data reseller
# Admin: docker exec reseller /reseller admin user list

FROM debian:trixie-slim@sha256:a29215f6a35e51e22adffa17f89e9d2ef06214e64a2bad10d765c46aea49f11f AS files
ARG PROGRAM=dist/release/reseller-linux-x64
COPY --chmod=755 ${PROGRAM} /image/reseller
# The image holds the program, the C library it is linked to, and an empty data directory: no shell, nothing else.
RUN mkdir -p /data /image/tmp && chmod 1777 /image/tmp \
  && ldd /image/reseller | grep -o '/[^ ]*' | sort -u | xargs cp -L --parents -t /image

FROM scratch
ARG VERSION=unknown
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="reseller" \
  org.opencontainers.image.description="A self-hosted reseller ordering service in one executable" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${COMMIT}"
COPY --from=files /image/ /
# Not there yet: the owner of a folder that is there would stay.
COPY --from=files --chown=10001:10001 --chmod=700 /data /data
USER 10001:10001
ENV RESELLER_DATA=/data RESELLER_HOST=0.0.0.0
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=6s --start-period=5s CMD ["/reseller", "health"]
ENTRYPOINT ["/reseller"]
CMD ["serve"]
