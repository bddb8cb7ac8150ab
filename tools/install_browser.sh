#!/usr/bin/env bash
# A browser for the tests of the HTML report. They are skipped without one, so this never fails: it
# installs Debian's chromium where that is possible, and says so loudly where it is not.
set -uo pipefail

for name in chromium chromium-browser google-chrome chrome; do
  command -v "$name" > /dev/null && exit 0
done

if [ "${PLAIT_INSTALL_BROWSER:-yes}" = yes ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "installing chromium for the tests of the HTML report (PLAIT_INSTALL_BROWSER=no prevents it)"
  install() {
    DEBIAN_FRONTEND=noninteractive timeout 600 \
      apt-get install --yes --quiet --no-install-recommends chromium > /dev/null 2>&1
  }
  install || { timeout 300 apt-get update --quiet > /dev/null 2>&1 && install; }
  command -v chromium > /dev/null && exit 0
fi

cat >&2 << 'MESSAGE'
****************************************************************************************
* NO BROWSER FOUND, AND NONE COULD BE INSTALLED: THE HTML REPORT WILL NOT BE TESTED.   *
* Install chromium (apt-get install chromium) and run the tests again.                 *
****************************************************************************************
MESSAGE
exit 0
