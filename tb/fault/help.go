package fault

// Help is the language in short, for a terminal.
var Help = `A fault is a few words in any order: what happens, at which host, to which packets, and when.

` + "  " + `drop b nth=5                       the 5th frame on the way to host b is lost
  drop b send psn=+3                 the SEND packet 3 after the first one
  drop 1%                            each frame is lost with a probability of 1%
  duplicate=5us a read-response      the first READ response comes again 5 us later
  delay=2us a ack nth=2 times=3      three acknowledgements come late, others overtake them
  reorder=3 b 0.5%                   the next 3 frames go by
  corrupt a ack byte=50              a byte is changed; field=psn: a field; repair: with a good ICRC
  truncate=60 b nth=2                the rest is missing, the FCS is good
  badfcs b last                      a wrong FCS
  pcie a read delay=5us nth=3        the third read of NIC a takes 5 us more
  pcie a read ur                     or ca, poison, never: it fails
  pcie b stop=20us nth=10            host b stands still from the 10th TLP on

A fault without a rate has to strike as often as it says (times=N, else once): if it does
not, the run fails. All words are in docs/faults.md.`
