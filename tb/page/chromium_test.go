package page_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// chromium is the one process that all tests of the package share: it takes seconds to
// start. It is spoken to by its debugging protocol over pipes.
var chromium struct {
	start sync.Once
	err   error
	dir   string
	c     *exec.Cmd
	to    *os.File
	file  *os.File
	from  *bufio.Reader
	next  int
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.c != nil {
		_ = chromium.to.Close() // it ends with its pipe
		timer := time.AfterFunc(10*time.Second, func() { _ = chromium.c.Process.Kill() })
		_ = chromium.c.Wait()
		timer.Stop()
		_ = os.RemoveAll(chromium.dir)
	}
	os.Exit(code)
}

func startChromium() error {
	bin, err := exec.LookPath("chromium")
	if err != nil {
		return err
	}
	if chromium.dir, err = os.MkdirTemp("", "page"); err != nil {
		return err
	}
	in, to, err := os.Pipe()
	if err != nil {
		return err
	}
	from, out, err := os.Pipe()
	if err != nil {
		return err
	}
	c := exec.Command(bin, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--remote-debugging-pipe", "--user-data-dir="+filepath.Join(chromium.dir, "profile"), "about:blank")
	c.ExtraFiles = []*os.File{in, out}
	if err := c.Start(); err != nil {
		return err
	}
	in.Close()
	out.Close()
	chromium.c, chromium.to, chromium.file, chromium.from = c, to, from, bufio.NewReader(from)
	return nil
}

// browser is a tab of chromium.
type browser struct {
	t       testing.TB
	session string
	problem []string // what the console and the network said
}

// open shows a page in a tab of that size. Without chromium the test is skipped; CI has
// one.
func open(t testing.TB, page []byte, width, height int) *browser {
	t.Helper()
	chromium.start.Do(func() { chromium.err = startChromium() })
	if chromium.err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%v: apt-get install chromium", chromium.err)
		}
		t.Skipf("%v: apt-get install chromium", chromium.err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(file, page, 0o666))
	require.NoError(t, chromium.file.SetReadDeadline(time.Now().Add(3*time.Minute)))
	b := &browser{t: t}
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	t.Cleanup(func() { b.call("Target.closeTarget", map[string]any{"targetId": target.TargetID}, nil) })
	for _, m := range []string{"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"} {
		b.call(m, nil, nil)
	}
	b.size(width, height)
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	b.ready()
	return b
}

// ready waits until the page is built.
func (b *browser) ready() {
	b.t.Helper()
	for b.eval("document.documentElement?.dataset.ready") != "yes" {
		require.Empty(b.t, b.problem)
		time.Sleep(20 * time.Millisecond)
	}
	b.settle()
}

func (b *browser) write(method string, params any) error {
	chromium.next++
	m := map[string]any{"id": chromium.next, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	msg, err := json.Marshal(m)
	if err == nil {
		_, err = chromium.to.Write(append(msg, 0))
	}
	return err
}

// call does one command and takes its result; what the page says meanwhile is kept.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	require.NoError(b.t, b.write(method, params))
	for {
		raw, err := chromium.from.ReadBytes(0)
		require.NoError(b.t, err, method)
		var m struct {
			ID        int
			Error     *struct{ Message string }
			Result    json.RawMessage
			Method    string
			SessionID string
			Params    json.RawMessage
		}
		require.NoError(b.t, json.Unmarshal(raw[:len(raw)-1], &m))
		if m.SessionID == b.session {
			b.event(m.Method, string(m.Params))
		}
		if m.ID != chromium.next {
			continue
		}
		require.Nil(b.t, m.Error, method)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(m.Result, result))
		}
		return
	}
}

// event keeps what must not happen: an error, a word on the console, a request for
// anything but the page.
func (b *browser) event(method, params string) {
	switch method {
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		b.problem = append(b.problem, params)
	case "Network.requestWillBeSent":
		if !strings.Contains(params, `"url":"file://`) && !strings.Contains(params, `"url":"data:`) {
			b.problem = append(b.problem, params)
		}
	}
}

// eval is the value of an expression: a string, float64, bool, nil, list or map.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		require.Fail(b.t, r.ExceptionDetails.Exception.Description, expression)
	}
	return r.Result.Value
}

func (b *browser) number(expression string) int {
	b.t.Helper()
	v, ok := b.eval("Number(" + expression + ")").(float64)
	require.True(b.t, ok, expression)
	return int(v)
}

// settle waits until what was asked for is drawn.
func (b *browser) settle() {
	b.t.Helper()
	b.eval("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => f(1)))))")
}

// keys presses keys, one after the other.
func (b *browser) keys(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		p := map[string]any{"type": "keyDown", "key": k}
		if len(k) == 1 {
			p["text"] = k
		}
		if code, ok := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}[k]; ok {
			p["windowsVirtualKeyCode"] = code
		}
		b.call("Input.dispatchKeyEvent", p, nil)
		b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": k}, nil)
	}
	b.settle()
}

// mouse moves the pointer to a place of the window, and clicks it or not.
func (b *browser) mouse(x, y float64, click bool) {
	b.t.Helper()
	b.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": x, "y": y}, nil)
	if click {
		for _, typ := range []string{"mousePressed", "mouseReleased"} {
			b.call("Input.dispatchMouseEvent", map[string]any{"type": typ, "x": x, "y": y, "button": "left", "clickCount": 1}, nil)
		}
	}
	b.settle()
}

// wheel turns the wheel over a place, with Control held or not.
func (b *browser) wheel(x, y, by float64, control bool) {
	b.t.Helper()
	keys := 0
	if control {
		keys = 2
	}
	b.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": by, "modifiers": keys}, nil)
	b.settle()
}

// drag pulls from one place to another.
func (b *browser) drag(x, y, toX, toY float64) {
	b.t.Helper()
	for _, e := range []struct {
		typ  string
		x, y float64
	}{{"mouseMoved", x, y}, {"mousePressed", x, y}, {"mouseMoved", (x + toX) / 2, (y + toY) / 2}, {"mouseMoved", toX, toY}, {"mouseReleased", toX, toY}} {
		m := map[string]any{"type": e.typ, "x": e.x, "y": e.y, "button": "left", "buttons": 1, "clickCount": 1}
		if e.typ == "mouseMoved" && e.x == x && e.y == y {
			m["button"], m["buttons"] = "none", 0
		}
		b.call("Input.dispatchMouseEvent", m, nil)
	}
	b.settle()
}

func (b *browser) size(width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

func (b *browser) dark(dark bool) {
	b.t.Helper()
	v := map[bool]string{false: "light", true: "dark"}[dark]
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": v}}}, nil)
	b.settle()
}

// picture is a PNG of the window, or of the whole page.
func (b *browser) picture(whole bool) []byte {
	b.t.Helper()
	var r struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": whole}, &r)
	png, err := base64.StdEncoding.DecodeString(r.Data)
	require.NoError(b.t, err)
	return png
}

// quiet demands that the page said nothing and asked for nothing.
func (b *browser) quiet() {
	b.t.Helper()
	b.eval("1")
	require.Empty(b.t, b.problem)
}
