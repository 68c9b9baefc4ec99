#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Open a page of tl-html in Chromium and print the result.

usage: tests/oracle/browser.py BROWSER FOLDER PAGE.html [OPTION...]

Prints the document once all parts of the page are drawn and, if the page sets
window.driving, its own report (document.body.dataset.said). Options are
Chromium's; FOLDER is for its profile. Errors of the page go to stderr.

A script of the page can send commands of the browser's own protocol, with real
mouse, touch and keys: await send("Input.dispatchTouchEvent", {...}).
"""
import json
import os
import signal
import subprocess
import sys

SECONDS = 60
SEND = """window.send = (method, params) => new Promise(done => {
    const n = (window.sent = (window.sent || 0) + 1);
    (window.waits = window.waits || {})[n] = done;
    command(JSON.stringify({ n, method, params }));
});"""
READY = """new Promise(done => {
    const look = () => document.body && document.body.dataset.ready &&
        (!window.driving || document.body.dataset.said !== undefined) ? done(true) : setTimeout(look, 10);
    look();
})"""


class Browser:
    def __init__(self, program, folder, options):
        from_us, to_browser = os.pipe()
        from_browser, to_us = os.pipe()

        def as_asked():
            # the browser reads from 3 and writes to 4, which may be in use
            one, two = os.dup(from_us), os.dup(to_us)
            high = [os.dup2(one, 20), os.dup2(two, 21)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + folder,
             "--remote-debugging-pipe", *options, "about:blank"],
            preexec_fn=as_asked, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.out, self.inp, self.rest = to_browser, from_browser, b""
        self.session, self.n, self.answers, self.loaded = None, 0, {}, False

    def post(self, method, params):
        self.n += 1
        text = {"id": self.n, "method": method, "params": params}
        if self.session:
            text["sessionId"] = self.session
        os.write(self.out, json.dumps(text).encode() + b"\0")
        return self.n

    def take(self):
        while b"\0" not in self.rest:
            more = os.read(self.inp, 1 << 16)
            if not more:
                sys.exit("the browser ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        text = json.loads(text)
        if "id" in text:
            self.answers[text["id"]] = text
        else:
            self.heard(text["method"], text.get("params", {}))

    def heard(self, method, params):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            # later parts would not come
            sys.exit("CONSOLE " + json.dumps(params["exceptionDetails"]))
        elif method == "Log.entryAdded":
            print("CONSOLE", params["entry"]["text"], file=sys.stderr)
        elif method == "Runtime.consoleAPICalled":
            print("CONSOLE", json.dumps([a.get("value") for a in params["args"]]), file=sys.stderr)
        elif method == "Runtime.bindingCalled":
            wish = json.loads(params["payload"])
            self.call(wish["method"], **wish["params"])
            self.post("Runtime.evaluate", {"expression": "waits[%d]()" % wish["n"]})

    def call(self, method, **params):
        n = self.post(method, params)
        while n not in self.answers:
            self.take()
        answer = self.answers.pop(n)
        if "error" in answer:
            sys.exit("%s: %s" % (method, answer["error"]))
        return answer["result"]

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                         returnByValue=True)["result"].get("value")


def main():
    program, folder, page, *options = sys.argv[1:]
    signal.alarm(SECONDS)
    browser = Browser(program, folder, options)
    page_of = [t for t in browser.call("Target.getTargets")["targetInfos"] if t["type"] == "page"][0]
    browser.session = browser.call("Target.attachToTarget", targetId=page_of["targetId"], flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log"):
        browser.call(domain + ".enable")
    browser.call("Runtime.addBinding", name="command")
    browser.call("Page.addScriptToEvaluateOnNewDocument", source=SEND)
    browser.loaded = False
    browser.call("Page.navigate", url="file://" + os.path.abspath(page))
    while not browser.loaded:
        browser.take()
    browser.value(READY)
    print(browser.value("document.documentElement.outerHTML"))
    browser.session = None
    browser.post("Browser.close", {})
    browser.process.wait()


main()
