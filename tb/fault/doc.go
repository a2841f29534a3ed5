// Package fault is the language in which a person says what goes wrong on the way
// between two hosts, and what does it: the command line, scenarios, random runs and
// tests all give the same strings.
//
//	"drop b nth=5" ─Parse─► Spec ─┐
//	"pcie a read ur nth=3" ─────► Spec ─┴─New─► Plan ─Attach─► tb.Host.SetFault, host.Params.Fault
//	                                      ◄─Report, Missed─
//
// A Spec is a set of words: one says what is done, the others to which frames or TLPs
// and when. With nth it names its victim, and a run in which it does not strike as
// often as it should has missed it. With a rate in percent it strikes at random, by
// the run's seed.
//
// Each host has faults of its own kernel only: what a Plan keeps for a host is used
// from that host's kernel and nowhere else, and it is the same in every run.
// Each rate has its own stream of draws, named by host and spec: adding a spec shifts
// no other.
package fault
