package main

// benchCmd is being filled.
type benchCmd struct{}

// Run prints.
func (benchCmd) Run() error { return nil }
