#!/bin/sh
# Runs the steps of the Dockerfile in plain root file systems, where no container engine is there: needs root, debootstrap
# and a network; takes minutes, so CI only parses the Dockerfile (test/integration/dockerfile.test.ts).
# Not the same as a build: the base is Debian with this machine's node in place of node:22-bookworm-slim, nothing is
# cached or layered, and ENV, EXPOSE and VOLUME are not looked at.
# Usage: sudo scripts/run-dockerfile.sh [CHROMIUM=0|1]
set -eu
cd "$(dirname "$0")/.."
chromium=${1:-0}
work=$(mktemp -d)
clean() {
  rm -rf "$work"
}
trap clean EXIT INT TERM

node=$(command -v node)
npm=$(dirname "$(readlink -f "$(command -v npm)")")/..
debootstrap --variant=minbase --include=ca-certificates bookworm "$work/base" >"$work/debootstrap.log" || {
  tail -5 "$work/debootstrap.log"
  exit 1
}
mkdir -p "$work/base/usr/local/lib/npm"
cp "$(readlink -f "$node")" "$work/base/usr/local/bin/node"
cp -r "$npm/." "$work/base/usr/local/lib/npm/"
ln -s ../lib/npm/bin/npm-cli.js "$work/base/usr/local/bin/npm"
ldd "$node" | awk '/=> \//{print $3}' | while read -r library; do
  test -e "$work/base$library" || cp --parents "$(readlink -f "$library")" "$work/base"
done
cp /etc/resolv.conf "$work/base/etc/resolv.conf"
# What this machine trusts and where its packages come from.
if [ -f "$HOME/.npmrc" ]; then cp "$HOME/.npmrc" "$work/base/root/.npmrc"; fi
cp -r /etc/ssl/certs/. "$work/base/etc/ssl/certs/" 2>/dev/null || true
authorities=
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  authorities=/etc/ssl/certs/extra-for-node.pem
  cp "$NODE_EXTRA_CA_CERTS" "$work/base$authorities"
fi
cp -r /etc/apt/apt.conf.d/. "$work/base/etc/apt/apt.conf.d/" 2>/dev/null || true

stage=
folder=/
# Continued lines are one step.
sed -e ':a' -e '/\\$/N; s/\\\n//; ta' Dockerfile | grep -v '^#' | grep . >"$work/steps"
while read -r name rest <&3; do
  case $name in
    FROM)
      stage=$work/$(echo "$rest" | sed -n 's/.* AS //p' | grep . || echo final)
      cp -a "$work/base" "$stage"
      folder=/
      ;;
    WORKDIR)
      case $rest in /*) folder=$rest ;; *) folder=$folder/$rest ;; esac
      mkdir -p "$stage$folder"
      ;;
    COPY)
      # shellcheck disable=SC2086
      set -- $rest
      from=.
      case $1 in --from=*) from=$work/${1#--from=}; shift ;; esac
      for target; do :; done
      while [ $# -gt 1 ]; do
        place=$stage$folder/$target
        case $target in */) mkdir -p "$place"; cp -a "$from/$1" "$place" ;; *) mkdir -p "$(dirname "$place")"; cp -a "$from/$1" "$place" ;; esac
        shift
      done
      ;;
    RUN)
      echo "RUN $rest" | cut -c1-100
      env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root NODE_EXTRA_CA_CERTS="$authorities" CHROMIUM="$chromium" DEBIAN_FRONTEND=noninteractive \
        chroot "$stage" sh -c "cd $folder && $rest" >"$work/run.log" 2>&1 || { tail -20 "$work/run.log"; exit 1; }
      ;;
  esac
done 3<"$work/steps"

echo "Starting the entry point as 10001 on a read-only root"
entry=$(sed -n 's/^ENTRYPOINT \[\(.*\)\]/\1/p' Dockerfile | tr -d '",')
# The command is an argument of the shell in between, so that quotes in it survive.
run() {
  unshare --mount sh -c '
    mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount -t tmpfs none "$1/tmp" &&
    mount -t tmpfs -o uid=10001,gid=10001 none "$1/data" && mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" &&
    exec chroot --userspec=10001:10001 "$1" env -i HOME=/tmp PATH=/usr/local/bin:/usr/bin:/bin sh -c "cd /data && $2"
  ' sh "$stage" "$1"
}
run "$entry --version"
run "$entry demo --help" >/dev/null
run "touch /app/x 2>/dev/null && echo 'the root is writable' && exit 1; echo 'the root is read-only'"
run "echo \"import { CheerioCrawler } from \\\"orcrawl\\\"; console.log(typeof CheerioCrawler)\" > /data/handler.mjs && node /data/handler.mjs"
run "echo \"import pg from \\\"pg\\\"; import { S3Client } from \\\"@aws-sdk/client-s3\\\"; console.log(typeof pg.Pool, typeof S3Client)\" > /data/packages.mjs && node /data/packages.mjs"
if [ "$chromium" = 1 ]; then
  run "chromium --version"
  run "echo \"import { chromium } from \\\"playwright-core\\\"; console.log(typeof chromium.launch)\" > /data/browser.mjs && node /data/browser.mjs"
fi
echo "All steps ran"
