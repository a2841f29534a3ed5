package image

import _ "embed" // of what runs in the guest

// initScript is the first process of the guest.
//
//go:embed guest/init
var initScript []byte

// agentSource is what drives the guest's verbs, in C on libibverbs.
//
//go:embed guest/agent.c
var agentSource []byte
