package page_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// browser is a headless chromium, spoken to by its debugging protocol over pipes.
type browser struct {
	t       testing.TB
	to      *os.File
	from    *bufio.Reader
	session string
	next    int
	problem []string // what the console and the network said
}

// open starts chromium with a window of that size on a page. Without chromium the test
// is skipped; CI has one.
func open(t testing.TB, page []byte, width, height int) *browser {
	t.Helper()
	bin, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("chromium is missing: apt-get install chromium")
		}
		t.Skip("chromium is missing: apt-get install chromium")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	require.NoError(t, os.WriteFile(file, page, 0o666))
	in, to, err := os.Pipe()
	require.NoError(t, err)
	from, out, err := os.Pipe()
	require.NoError(t, err)
	c := exec.Command(bin, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--remote-debugging-pipe", "--user-data-dir="+filepath.Join(dir, "profile"), "about:blank")
	c.ExtraFiles = []*os.File{in, out}
	require.NoError(t, c.Start())
	in.Close()
	out.Close()
	require.NoError(t, from.SetReadDeadline(time.Now().Add(2*time.Minute)))
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	t.Cleanup(func() {
		_ = b.write("Browser.close", nil)
		done := make(chan struct{})
		go func() { _ = c.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			_ = c.Process.Kill()
			<-done
		}
		to.Close()
		from.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, m := range []string{"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"} {
		b.call(m, nil, nil)
	}
	b.size(width, height)
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	for b.eval("document.documentElement?.dataset.ready") != "yes" {
		require.Empty(t, b.problem)
		time.Sleep(20 * time.Millisecond)
	}
	b.settle()
	return b
}

func (b *browser) write(method string, params any) error {
	b.next++
	m := map[string]any{"id": b.next, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	msg, err := json.Marshal(m)
	if err == nil {
		_, err = b.to.Write(append(msg, 0))
	}
	return err
}

// call does one command and takes its result; what the page says meanwhile is kept.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	require.NoError(b.t, b.write(method, params))
	for {
		raw, err := b.from.ReadBytes(0)
		require.NoError(b.t, err, method)
		var m struct {
			ID     int
			Error  *struct{ Message string }
			Result json.RawMessage
			Method string
			Params json.RawMessage
		}
		require.NoError(b.t, json.Unmarshal(raw[:len(raw)-1], &m))
		b.event(m.Method, string(m.Params))
		if m.ID != b.next {
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
