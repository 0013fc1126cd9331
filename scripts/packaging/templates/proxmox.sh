#!/usr/bin/env bash
# Makes a Debian container on a Proxmox VE host and installs Skep @VERSION@ in it. Run as root on the host:
#   bash proxmox.sh [ID] [STORAGE]        ID: a free number by default; STORAGE: local-lvm by default
set -euo pipefail
command -v pct >/dev/null || { echo "proxmox: pct is missing; run this on a Proxmox VE host" >&2; exit 1; }
id=${1:-$(pvesh get /cluster/nextid)}
storage=${2:-local-lvm}
pveam update >/dev/null
template=$(pveam available --section system | awk '/debian-1[2-9]-standard/ { print $2 }' | sort -V | tail -n 1)
pveam list local | grep -q "$template" || pveam download local "$template"
# Nesting, because agents work in containers of their own inside it.
pct create "$id" "local:vztmpl/$template" --hostname skep --unprivileged 1 --features nesting=1,keyctl=1 \
  --cores 2 --memory 4096 --rootfs "$storage:16" --net0 name=eth0,bridge=vmbr0,ip=dhcp --onboot 1
pct start "$id"
deb=skep_@DEBIAN_VERSION@_$(dpkg --print-architecture).deb
pct exec "$id" -- sh -c "apt-get update -qq && apt-get install -y -qq curl ca-certificates docker.io git"
pct exec "$id" -- curl -fsSL --output "/tmp/$deb" "@URL@/$deb"
digest=$(curl -fsSL "@URL@/SHA256SUMS" | awk -v name="$deb" '$2 == name { print $1 }')
pct exec "$id" -- sh -c "echo '$digest  /tmp/$deb' | sha256sum --check --quiet && apt-get install -y -qq /tmp/$deb"
echo "Skep runs in container $id. Set it up: pct exec $id -- sudo -u skep skep init --data /var/lib/skep"
