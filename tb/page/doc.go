// Package page makes of the story of a run one page to read in a browser, report.html:
// the packets as a ladder, the work requests as bars of stages and waits, bandwidth,
// outstanding messages and queue depths over time, latencies, where the time went, and
// the counters. The page is one file. It loads nothing, and its policy forbids it to.
//
//	story.Story ── columns ── JSON in the page ── assets/*.js draw what is in sight
//
// The data are columns of numbers beside one list of strings, with times as differences:
// some 50 bytes a packet. Ladder and requests are canvases on which only the visible part
// is drawn, so that their cost does not grow with the run. What a canvas shows is also
// in tables, can be reached by keys alone, and is said in a live region.
package page
